/** The types of ports: their names, and what is known about the calls of each. */

/** The adapter of each port by the port's name: a section adds its own by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: sections add to it
export interface SectionPorts {}

/** The ports of the runtime itself. */
export type OwnPort = 'mail' | 'storage'
export type PortName = keyof SectionPorts | OwnPort

export interface PortFacts {
  /** The owner of the account at the provider: each store, with its own connection, or this server. */
  account: 'store' | 'server'
  /** Methods that may succeed without calling the provider: their success does not prove that it works. */
  local?: readonly string[]
  /**
   * Whether a method's result proves that the provider still accepts our access. Null: any result but a check's does.
   */
  provesAccess?(method: string, answer: unknown): boolean | null
}
