import './small-chart.css';

interface SmallChartProps {
  readonly reservedBytes: readonly number[];
  readonly liveBytes: readonly number[];
  /** The top of the scale. */
  readonly most: number;
  readonly className: string;
  /** For screen readers; without it, the chart repeats what text beside it says. */
  readonly label?: string;
}

const [WIDTH, HEIGHT] = [100, 100];

/** Live memory in front of reserved memory, stretched to the size that its class gives it. */
export function SmallChart({ reservedBytes, liveBytes, most, className, label }: SmallChartProps) {
  const areaOf = (values: readonly number[]) => {
    const steps = values.map((value, i) => {
      return `V${HEIGHT * (1 - value / most)} H${((i + 1) * WIDTH) / values.length}`;
    });
    return `M0 ${HEIGHT} ${steps.join(' ')} V${HEIGHT} Z`;
  };
  return (
    <svg
      className={className}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role={label === undefined ? undefined : 'img'}
      aria-label={label}
      aria-hidden={label === undefined || undefined}
    >
      <path className="chart-reserved" d={areaOf(reservedBytes)} />
      <path className="chart-live" d={areaOf(liveBytes)} />
    </svg>
  );
}
