/**
 * A rolling upgrade without refused requests: gateways and workers of the last release and of this code on one
 * database, before, during and after its migration. The release is the last tag `v*`, or the commit of ROLLING_FROM;
 * without either the test is skipped.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { previousRelease } from '#db/migrate'
import { openPostgres } from '#db/open'
// biome-ignore lint/style/noRestrictedImports: the processes it starts go by the machine's clock
import { machineClock } from '#runtime/clock'
import { whenFileEnds } from '#test/support/closing'
import { createDatabase, dropDatabase, withDatabase } from '#test/support/cluster'
import { call, type Running, start, until } from '#test/support/processes'

const root = join(import.meta.dirname, '../..')
const nodes = inject('nodes')
const release = inject('postgresUrl') ? lastRelease() : null

function git(...args: string[]): string | null {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return null // no repository, or no such commit
  }
}

function lastRelease(): string | null {
  const from = process.env.ROLLING_FROM
  if (!from) return git('describe', '--tags', '--match', 'v*', '--abbrev=0')
  const commit = git('rev-parse', '--verify', `${from}^{commit}`)
  if (!commit) throw new Error(`ROLLING_FROM: ${from} is no commit of this repository`)
  return commit
}

/** Its files, with the installed packages. */
function checkOut(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-release-'))
  whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))
  const of = join(folder, 'code')
  mkdirSync(of)
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['-x', '-C', of], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(of, 'node_modules'))
  return of
}

const command = (of: string, env: Record<string, string>, script: string, ...args: string[]): string =>
  execFileSync(process.execPath, [join(of, script), ...args], {
    cwd: of,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })

interface Operation {
  method: string
  path: string
}
/** Lists and figures: reads without parameters. */
async function listReads({ url }: Running, key: string): Promise<string[]> {
  const { body } = await call(url, key, 'GET', '/v1/operations')
  const operations: Operation[] = body.operations ?? body.data
  return operations.flatMap(({ method, path }) => (method === 'GET' && !/[{:]/.test(path) ? [path] : []))
}

test.skipIf(release === null)(
  'old and new gateways and workers share a database, and no request is refused',
  async () => {
    const of = checkOut(release!)
    const name = `merchant_rolling_${process.pid}`
    await createDatabase(nodes, name)
    whenFileEnds(() => dropDatabase(nodes, name))
    const dataDir = mkdtempSync(join(tmpdir(), 'merchant-rolling-'))
    whenFileEnds(() => rmSync(dataDir, { recursive: true, force: true }))
    const env = {
      DATABASE_URL: withDatabase(nodes[0]!, name),
      DATA_DIR: dataDir,
      SECRET_KEY: 'a secret key that only the tests use, 123',
      LOG_LEVEL: 'warn',
    }
    command(of, env, 'scripts/migrate.ts')
    const demo = JSON.parse(command(of, env, 'scripts/seed.ts', 'demo', '--json')) as {
      keys: { key: string }[]
    }
    const { key } = demo.keys[0]!
    const gateway = (from: string): Promise<Running> =>
      start('scripts/start.ts', { ...env, WORKER: 'off' }, from)
    const worker = (from: string): Promise<Running> => start('scripts/worker.ts', env, from)
    const old = { gateway: await gateway(of), worker: await worker(of) }

    const gateways = [old.gateway]
    const refused: unknown[] = []
    let calls = 0
    let isOver = false
    /** Created by one version, changed by another, and read by a third. */
    const traffic = (async () => {
      for (let n = 0; !isOver; n += 1) {
        const at = (turn: number): string => gateways[(n + turn) % gateways.length]!.url
        const asked = async (url: string, method: string, path: string, body?: unknown) => {
          const answer = await call(url, key, method, path, body)
          calls += 1
          if (answer.status >= 300) refused.push([method, path, answer.status, answer.body])
          return answer.body
        }
        const { id } = await asked(at(0), 'POST', '/v1/campaigns/lists', { name: `Rolling ${n}` })
        await asked(at(1), 'PUT', `/v1/campaigns/lists/${id}`, { name: `Rolled ${n}` })
        const read = await asked(at(2), 'GET', `/v1/campaigns/lists/${id}`)
        if (read.name !== `Rolled ${n}`) refused.push(read)
        await asked(at(1), 'DELETE', `/v1/campaigns/lists/${id}`)
        await wait(20)
      }
    })()
    const carriesOn = (count: number) => until(async () => refused.length > 0 || calls > count)
    await carriesOn(20)
    const reads = await listReads(old.gateway, key)
    expect(reads.length).toBeGreaterThan(50)
    const before = await readStatuses(old.gateway, key, reads)

    // A release whose code still runs: its last migration is what `previousRelease` names.
    expect(readdirSync(join(of, 'db/migrations')).toSorted().at(-1)).toBe(`${previousRelease}.ts`)
    command(root, env, 'scripts/migrate.ts')
    expect(await readStatuses(old.gateway, key, reads)).toEqual(before)
    const now = { gateway: await gateway(root), worker: await worker(root) }
    gateways.push(now.gateway)
    const both = calls
    expect(await readStatuses(now.gateway, key, reads)).toEqual(before)
    for (const { url } of gateways) expect((await fetch(`${url}/readyz`)).status).toBe(200)
    await carriesOn(both + 100)

    gateways.shift()
    // Pending requests are answered before it exits.
    await wait(500)
    for (const each of [old.gateway, old.worker]) {
      each.child.kill('SIGTERM')
      expect(await each.ended).toBe(0)
    }
    const alone = calls
    await carriesOn(alone + 20)
    isOver = true
    await traffic
    expect(refused).toEqual([])

    // Jobs of either version are run by either.
    const database = openPostgres(env.DATABASE_URL)
    try {
      await until(async () => {
        const [left] = await database.query<{ due: number }>(
          `select count(*)::int as due from pgboss.job where state in ('created', 'retry', 'active') and start_after < $1`,
          [machineClock().now()],
        )
        return left!.due === 0
      })
      const [jobs] = await database.query<{ completed: number; failed: number }>(
        `select count(*) filter (where state = 'completed')::int as completed,
           count(*) filter (where state = 'failed')::int as failed from pgboss.job`,
        [],
      )
      expect(jobs).toMatchObject({ failed: 0 })
      expect(jobs!.completed).toBeGreaterThan(0)
    } finally {
      await database.close()
    }
    for (const each of [now.gateway, now.worker]) {
      each.child.kill('SIGTERM')
      expect(await each.ended).toBe(0)
    }
  },
)

async function readStatuses(server: Running, key: string, paths: readonly string[]): Promise<string[]> {
  const statuses: string[] = []
  for (const path of paths) statuses.push(`${path} ${(await call(server.url, key, 'GET', path)).status}`)
  return statuses
}
