/** What components can ask for besides the stores; made once in main.tsx. */

import { createContext, useContext } from 'react';
import type { StoreApi } from 'zustand/vanilla';
import type { IdleCounter } from '../../engine/idle.ts';
import type { Marks } from '../../engine/marks.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import type { Opener } from './opener.ts';

export interface Services {
  readonly session: SessionApi;
  readonly opener: Opener;
  readonly marks: Marks;
  readonly idle: IdleCounter;
  /** Sentences about the link that was followed, until they are dismissed. */
  readonly notices: StoreApi<readonly string[]>;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === undefined) throw new Error('No ServicesContext above this component');
  return services;
}
