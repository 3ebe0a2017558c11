/** Metrics that sections add to `/metrics`. */
import type { SystemContext } from '#runtime/context'

/** A gauge of a section. Its labels have few known values: none is a store. */
export interface Gauge {
  name: string
  help: string
  labels: readonly string[]
  /** Called at each scrape; one cheap statement. */
  values(system: SystemContext): Promise<{ labels: Record<string, string>; value: number }[]>
}

/** A counter of events; its labels have few values. */
export interface Counter {
  name: string
  help: string
  labels: readonly string[]
}
