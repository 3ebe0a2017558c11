/** Collects the Prometheus metrics of `/metrics`. */
import {
  collectDefaultMetrics,
  Histogram,
  type Metric,
  Counter as PromCounter,
  Gauge as PromGauge,
  Registry,
} from 'prom-client'
import type { Database } from '#db/database'
import { readyMs } from '#db/deadlines'
import type { SystemContext } from '#runtime/context'
import { withTimeout } from '#runtime/gateway/deadline'
import type { Queue } from '#runtime/jobs/queue'
import type { Counter, Gauge } from '#runtime/server/instruments'

export interface Metrics {
  observe(operation: string, status: number, milliseconds: number): void
  /** Adds a section's gauge. The gauge has no values while the database does not answer. */
  addGauge(gauge: Gauge, system: SystemContext): void
  /** Declares a counter, which `count` increments. */
  declare(counter: Counter): void
  count(counter: string, labels: Record<string, string>): void
  observeProvider(port: string, provider: string, outcome: CallResult, milliseconds: number): void
  observeJob(queue: string, outcome: 'completed' | 'failed' | 'waiting', milliseconds: number): void
  text(): Promise<string>
  readonly contentType: string
}

/** The result of a provider's call. `answered` includes a refusal; `silent`: no answer, or an invalid one. */
type CallResult = 'answered' | 'silent'

export function openMetrics(database: Database, queue: Queue): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new RequestTally()
  registry.registerMetric(requests.counts)
  registry.registerMetric(requests.times)
  const jobs = new Histogram({
    name: 'job_duration_seconds',
    help: 'Time of a job run, by job and outcome',
    labelNames: ['queue', 'outcome'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300],
    registers: [registry],
  })
  const providers = new Histogram({
    name: 'provider_call_duration_seconds',
    help: 'Time of a call of a provider, by port, provider and outcome',
    labelNames: ['port', 'provider', 'outcome'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  const counters = new Map<string, PromCounter>()
  let asking: Promise<Awaited<ReturnType<Queue['backlog']>> | null> | null = null
  /** Reads the queue's backlog; null if the database does not answer. All other metrics need no database. */
  const readBacklog = () => {
    asking ??= withTimeout(readyMs, queue.backlog())
      .catch(() => null) // `database_up` reports it
      .finally(() => {
        asking = null
      })
    return asking
  }
  new PromGauge({
    name: 'database_up',
    help: 'Whether the database answered the last check; if it did not, the job metrics are missing',
    registers: [registry],
    async collect() {
      this.set((await readBacklog()) ? 1 : 0)
    },
  })
  new PromGauge({
    name: 'jobs',
    help: 'Jobs that wait (those due among them) and that run, by queue',
    labelNames: ['queue', 'state'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { queue, waiting, due, running } of (await readBacklog()) ?? []) {
        for (const [state, count] of Object.entries({ waiting, due, running }))
          this.set({ queue, state }, count)
      }
    },
  })
  new PromGauge({
    name: 'jobs_lag_seconds',
    help: 'How long the job that waits longest has been due, by queue; nothing where none is',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { queue, lagSeconds } of (await readBacklog()) ?? []) {
        if (lagSeconds !== null) this.set({ queue }, lagSeconds)
      }
    },
  })
  new PromGauge({
    name: 'database_clients',
    help: 'Database clients open and busy, and statements and transactions waiting for one',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { isDiskFull: _, ...counts } = database.load()
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count)
    },
  })
  return {
    observe: (operation, status, milliseconds) => requests.observe(operation, status, milliseconds),
    declare({ name, help, labels }) {
      counters.set(name, new PromCounter({ name, help, labelNames: [...labels], registers: [registry] }))
    },
    count(name, labels) {
      const counter = counters.get(name)
      if (!counter) throw new Error(`No counter is declared as ${name}: register one`)
      counter.inc(labels)
    },
    observeProvider: (port, provider, outcome, milliseconds) =>
      providers.labels(port, provider, outcome).observe(milliseconds / 1000),
    observeJob: (name, outcome, milliseconds) => jobs.labels(name, outcome).observe(milliseconds / 1000),
    addGauge(told, system) {
      new PromGauge({
        name: told.name,
        help: told.help,
        labelNames: [...told.labels],
        registers: [registry],
        async collect() {
          // `readBacklog` shows whether the database answers, and runs once for all gauges.
          const values = (await readBacklog())
            ? await withTimeout(readyMs, told.values(system)).catch(() => [])
            : []
          this.reset()
          for (const { labels, value } of values) this.set(labels, value)
        },
      })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

interface OperationTally {
  /** The number of requests in each bucket of `bucketBounds`; the last bucket is for longer requests. */
  buckets: number[]
  milliseconds: number
  /** The number of requests by HTTP status. */
  statuses: number[]
}

/** The upper bounds of the duration buckets, in milliseconds. */
const bucketBounds = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000]

/**
 * Counts requests by operation in plain numbers, which are converted to Prometheus's form at a scrape. The library's
 * own counters build a text from the labels for each request, which costs as much as half of all checks of a request.
 */
class RequestTally {
  readonly #operations = new Map<string, OperationTally>()

  observe(operation: string, status: number, milliseconds: number): void {
    let tally = this.#operations.get(operation)
    if (!tally) {
      tally = { buckets: new Array<number>(bucketBounds.length + 1).fill(0), milliseconds: 0, statuses: [] }
      this.#operations.set(operation, tally)
    }
    let bucket = 0
    while (bucket < bucketBounds.length && milliseconds > bucketBounds[bucket]!) bucket += 1
    tally.buckets[bucket]! += 1
    tally.milliseconds += milliseconds
    tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
  }

  readonly counts = buildMetric({
    name: 'http_requests_total',
    help: 'Requests by operation and status',
    type: 'counter',
    values: () =>
      [...this.#operations].flatMap(([operation, { statuses }]) =>
        Object.entries(statuses).map(([status, value]) => ({ labels: { operation, status }, value })),
      ),
  })

  readonly times = buildMetric({
    name: 'http_request_duration_seconds',
    help: 'Time to answer, by operation',
    type: 'histogram',
    values: () => [...this.#operations].flatMap(([operation, tally]) => toHistogram(operation, tally)),
  })
}

interface Sample {
  labels: Record<string, string | number>
  value: number
  metricName?: string
}

function toHistogram(operation: string, { buckets, milliseconds }: OperationTally): Sample[] {
  const name = 'http_request_duration_seconds'
  let count = 0
  const samples: Sample[] = buckets.map((inBucket, i) => {
    count += inBucket
    const le = i < bucketBounds.length ? bucketBounds[i]! / 1000 : '+Inf'
    return { labels: { le, operation }, value: count, metricName: `${name}_bucket` }
  })
  return [
    ...samples,
    { labels: { operation }, value: milliseconds / 1000, metricName: `${name}_sum` },
    { labels: { operation }, value: count, metricName: `${name}_count` },
  ]
}

/** Builds a metric whose samples are computed at a scrape; it has only the members that prom-client's registry uses. */
function buildMetric(of: { name: string; help: string; type: string; values(): Sample[] }): Metric {
  const { name, help, type, values } = of
  return {
    name,
    aggregator: 'sum',
    get: async () => ({ name, help, type, aggregator: 'sum', values: values() }),
  } as never
}
