/** A port that a section gives: an upstream system with an adapter for each provider. */
import type { Database } from '#db/database'
import type { Settings } from '#runtime/server/settings'
import type { Clock } from '../clock.ts'
import type { PortFacts } from './ports.ts'

export interface Opening {
  settings: Settings
  database: Database
  clock: Clock
}

/** What a section wires to `ports`, by the port's name. */
export interface PortSpec<Adapter extends object = object> extends PortFacts {
  /** Its adapters by the provider's name, as connections of stores name it: the sandbox, and those that the settings name. */
  open(opening: Opening): Promise<Readonly<Record<string, Adapter>>>
}
