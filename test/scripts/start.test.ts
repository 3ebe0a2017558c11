/** `npm start` on an empty folder, and `npm run seed`, as a person types them. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { freshDatabase } from '#test/support/app'

const root = join(import.meta.dirname, '../..')
const folders: string[] = []
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Nothing there yet: a new folder, and a new database where the suite runs on a server. */
async function emptyPlace(): Promise<NodeJS.ProcessEnv> {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-start-'))
  folders.push(folder)
  let url: string | null = null
  if (inject('postgresUrl')) {
    const fresh = await freshDatabase()
    await fresh.database.close()
    url = fresh.url
  }
  return {
    ...process.env,
    DATA_DIR: folder,
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...(url ? { DATABASE_URL: url } : {}),
  }
}

/** Starts the server and answers what it printed up to the last line of its greeting. */
async function start(
  env: NodeJS.ProcessEnv,
  until: RegExp,
): Promise<{ printed: string; stop(): Promise<unknown> }> {
  const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], { cwd: root, env })
  children.add(child)
  const ended = new Promise((resolve) => child.once('close', resolve)).finally(() => children.delete(child))
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (until.test(printed)) resolve()
    })
    child.stderr.on('data', (chunk) => {
      printed += chunk
    })
    child.once('close', () => reject(new Error(`It ended: ${printed}`)))
  })
  return {
    printed,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

test('the first start seeds the demo and shows a call that works; a later one shows how to get a key', async () => {
  const env = await emptyPlace()
  const first = await start(env, /Every operation: \S+\n/)
  const [, key, url] = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(first.printed)!
  expect(first.printed).toContain(`Listening on ${new URL(url!).origin}`)
  const response = await fetch(url!, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  expect(((await response.json()) as { total: number }).total).toBe(9)
  expect(await first.stop()).toBe(0)

  const second = await start(env, /npm run keys -- create/)
  expect(second.printed).toMatch(/Listening on http:\/\/127\.0\.0\.1:\d+/)
  expect(second.printed).not.toContain('mk_')
  expect(await second.stop()).toBe(0)
}, 90_000)

const seed = (env: NodeJS.ProcessEnv, ...args: string[]) =>
  promisify(execFile)(process.execPath, [join(root, 'scripts/seed.ts'), ...args], { cwd: root, env })

test('seed demo prints one key for each person, in one line of JSON when asked', async () => {
  const env = await emptyPlace()
  const { stdout } = await seed(env, 'demo', '--json')
  expect(stdout.trim().split('\n')).toHaveLength(1)
  const { stores, keys } = JSON.parse(stdout) as { stores: object[]; keys: { name: string; key: string }[] }
  expect(stores).toHaveLength(2)
  expect(keys.map((each) => each.name)).toEqual([
    'Demo: Olivia, all scopes',
    'Demo: Olivia, read only',
    'Demo: Marco, all scopes',
    'Demo: Ada, all scopes',
    'Demo: Bruno, all scopes',
  ])
  const text = (await seed(env, 'demo')).stdout
  expect(text.match(/mk_live_[0-9A-Za-z]{43}/g)).toHaveLength(5)
  expect(keys.some(({ key }) => text.includes(key))).toBe(false)
}, 90_000)

test.each([
  [['load', '--stores', 'many'], /whole number/],
  [['load', '--stores', '1', '--store', 'load-1'], /not both/],
  [['nothing'], /unknown command/],
])('seed %j is refused in one clear line', async (args, reason) => {
  const refused = await seed(process.env, ...args).catch((error: { code: number; stderr: string }) => error)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(reason) })
  expect(refused.stderr.trim().split('\n')).toHaveLength(1)
})
