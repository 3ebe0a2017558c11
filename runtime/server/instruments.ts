/** What sections add to `/metrics`. */
import type { SystemContext } from '#runtime/context'

/** A number for Prometheus that a section knows. Its labels are few and known: none is of a store. */
export interface Gauge {
  name: string
  help: string
  labels: readonly string[]
  /** Asked at each look, by one cheap statement. */
  values(system: SystemContext): Promise<{ labels: Record<string, string>; value: number }[]>
}

/** Of what happens, by labels whose values are few. */
export interface Counter {
  name: string
  help: string
  labels: readonly string[]
}
