/** Starts a throwaway Citus cluster: a coordinator and workers, each a PostgreSQL on the loopback address. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { requirePostgres, type ThrowawayPostgres, throwawayPostgres } from './postgres.ts'

export interface ThrowawayCitus {
  /** Address of the coordinator's database `postgres`, which has the extension and its workers. */
  url: string
  coordinator: ThrowawayPostgres
  workers: readonly ThrowawayPostgres[]
  /** Stops all nodes; a second call does nothing. */
  stop(): Promise<void>
}

/**
 * Settings of each node. The limits are high, since each test file's database has a maintenance daemon on every node.
 */
const lines = [
  `shared_preload_libraries = 'citus'`,
  'max_prepared_transactions = 200',
  'max_connections = 300',
  'max_worker_processes = 64',
  'max_locks_per_transaction = 1024',
  `shared_buffers = '192MB'`,
  'citus.shard_count = 4',
  // Short, so that a test does not wait long for the recovery of transactions of a killed node.
  `citus.recover_2pc_interval = '2s'`,
  // Sessions that hang with one node release their locks on the others; our own sessions set their own timeout.
  `idle_in_transaction_session_timeout = '20s'`,
  // On a single machine, many small connections cost more than they save.
  'citus.max_adaptive_executor_pool_size = 2',
  `citus.enable_statistics_collection = off`,
]

/** Whether this machine's PostgreSQL has Citus. */
const hasCitus = (bin = requirePostgres()): boolean => existsSync(join(bin, '../lib/citus.so'))

export async function throwawayCitus(
  options: { durable?: boolean; workers?: number } = {},
): Promise<ThrowawayCitus> {
  if (!hasCitus()) {
    throw new Error(
      `No citus.so beside ${requirePostgres()}: install Citus for this version of PostgreSQL from its packages, as ` +
        'https://docs.citusdata.com/en/stable/installation tells (Debian, Ubuntu: postgresql-<version>-citus-<version>)',
    )
  }
  const { durable = true, workers: count = 2 } = options
  const nodes: ThrowawayPostgres[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()))
  }
  try {
    for (let n = 0; n <= count; n += 1) nodes.push(await throwawayPostgres({ durable, lines }))
    const [coordinator, ...workers] = nodes as [ThrowawayPostgres, ...ThrowawayPostgres[]]
    await joinNodes(nodes.map((node) => node.url))
    return { url: coordinator.url, coordinator, workers, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Creates the extension in each database, and registers the other nodes with the first, the coordinator. */
export async function joinNodes(urls: readonly string[]): Promise<void> {
  await Promise.all(
    urls.map((url) => withConnection(url, (sql) => sql.unsafe('create extension if not exists citus'))),
  )
  const [coordinator, ...workers] = urls.map((url) => new URL(url)) as [URL, ...URL[]]
  await withConnection(coordinator.href, async (sql) => {
    await sql`select citus_set_coordinator_host(${coordinator.hostname}, ${Number(coordinator.port)}::int)`
    for (const { hostname, port } of workers)
      await sql`select citus_add_node(${hostname}, ${Number(port)}::int)`
  })
}

async function withConnection(url: string, run: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await run(sql)
  } finally {
    await sql.end()
  }
}
