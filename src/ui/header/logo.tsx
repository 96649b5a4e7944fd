/** The favicon's bars, in the page's colours. */
export function Logo() {
  return (
    <svg className="logo" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path className="logo-low" d="M1 19v-5h3v5zM6 19V9h3v10zM11 19v-8h3v8zM16 19v-6h3v6z" />
      <path className="logo-high" d="M6 9V4h3v5zM11 11V1h3v10z" />
    </svg>
  );
}
