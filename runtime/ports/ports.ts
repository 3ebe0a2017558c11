/** The names of the ports, and the properties of their calls. */

/** The adapter of each port by the port's name: a section adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: sections add to it
export interface SectionPorts {}

/** The ports of the runtime itself. */
export type OwnPort = 'mail' | 'storage'
export type PortName = keyof SectionPorts | OwnPort

export interface PortFacts {
  /** The owner of the account at the provider: each store, with its own connection, or this server. */
  account: 'store' | 'server'
  /** Methods that need not call the provider: their success proves nothing. */
  local?: readonly string[]
  /** Whether a method's result proves that the provider still accepts our access; null: the default applies. */
  provesAccess?(method: string, answer: unknown): boolean | null
}
