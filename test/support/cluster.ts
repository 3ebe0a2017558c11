/**
 * Databases on the server of TEST_DATABASE_URL. On a Citus cluster, a database exists on each node: it is copied on all
 * of them, with tables, shards and Citus metadata.
 */
import postgres from 'postgres'
import { joinNodes } from '#scripts/cli/citus'

/** The addresses of the nodes, the coordinator's first; for a single PostgreSQL, its own. */
export async function listNodes(url: string): Promise<string[]> {
  return onServer(url, async (sql) => {
    const [known] = await sql`select to_regclass('pg_dist_node') is not null as "isCluster"`
    if (!known!.isCluster) return [url]
    const rows = await sql<{ nodename: string; nodeport: number }[]>`
      select nodename, nodeport from pg_dist_node order by groupid`
    return rows.map(({ nodename, nodeport }) => {
      const address = new URL(url)
      ;[address.hostname, address.port] = [nodename, String(nodeport)]
      return address.href
    })
  })
}

/** Empty, or a copy of a database frozen by `freeze`. */
export async function createDatabase(
  nodes: readonly string[],
  name: string,
  template?: string,
): Promise<void> {
  await dropDatabase(nodes, name)
  const text = `create database ${name}${template ? ` template ${template}` : ''}`
  await Promise.all(nodes.map((node) => onServer(node, (sql) => sql.unsafe(text))))
  if (nodes.length > 1 && !template) await joinNodes(nodes.map((node) => withDatabase(node, name)))
}

/** Disallows connections, including those of Citus' background workers. */
export async function freeze(nodes: readonly string[], name: string): Promise<void> {
  if (nodes.length === 1) return
  await Promise.all(
    nodes.map((node) =>
      onServer(node, async (sql) => {
        await sql.unsafe(`alter database ${name} with allow_connections false`)
        await sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`
      }),
    ),
  )
}

export async function dropDatabase(nodes: readonly string[], name: string): Promise<void> {
  await Promise.all(nodes.map((node) => onServer(node, (sql) => dropOn(sql, name))))
}

/** Citus restarts its background worker of a database immediately, so it may reconnect before the drop. */
async function dropOn(sql: postgres.Sql, name: string): Promise<void> {
  for (let triesLeft = 3; ; triesLeft -= 1) {
    try {
      await sql.unsafe(`drop database if exists ${name} with (force)`)
      return
    } catch (error) {
      if (triesLeft === 0 || (error as { code?: string }).code !== objectInUse) throw error
    }
  }
}
const objectInUse = '55006'

export function withDatabase(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

async function onServer<T>(url: string, run: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await run(sql)
  } finally {
    await sql.end()
  }
}
