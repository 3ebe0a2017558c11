/** A port that a section provides: an upstream system with an adapter for each provider. */
import type { Database } from '#db/database'
import type { Settings } from '#runtime/server/settings'
import type { Clock } from '../clock.ts'
import type { PortFacts } from './ports.ts'

export interface PortContext {
  settings: Settings
  database: Database
  clock: Clock
}

/** A section's entry of `ports`, by the port's name. */
export interface PortSpec<Adapter extends object = object> extends PortFacts {
  /** Its adapters by the provider's name, as connections of stores name it: the sandbox, and those in the settings. */
  open(opening: PortContext): Promise<Readonly<Record<string, Adapter>>>
}
