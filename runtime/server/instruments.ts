/** The types of the metrics that sections add to `/metrics`. */
import type { SystemContext } from '#runtime/context'

/** A gauge of a section. Its labels must have few possible values, so a store's id is no label. */
export interface Gauge {
  name: string
  help: string
  labels: readonly string[]
  /** Reads the values. Called at each scrape, so it may run one cheap statement only. */
  values(system: SystemContext): Promise<{ labels: Record<string, string>; value: number }[]>
}

/** A counter of events. Its labels must have few possible values. */
export interface Counter {
  name: string
  help: string
  labels: readonly string[]
}
