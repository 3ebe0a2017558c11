/** The type of a port that a section provides: an upstream system with an adapter for each provider. */
import type { Database } from '#db/database'
import type { Settings } from '#runtime/server/settings'
import type { Clock } from '../clock.ts'
import type { PortFacts } from './ports.ts'

export interface PortContext {
  settings: Settings
  database: Database
  clock: Clock
}

/** An entry of the extension point `ports`. */
export interface PortSpec<Adapter extends object = object> extends PortFacts {
  /** Opens the adapters that the settings enable, and the sandbox's; by the provider's name in stores' connections. */
  open(opening: PortContext): Promise<Readonly<Record<string, Adapter>>>
}
