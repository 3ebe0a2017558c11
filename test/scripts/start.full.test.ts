// biome-ignore-all lint/nursery/noJsRestrictedProperties: it tells an end by request from one that is cut off after ten seconds
/** `npm start` on an empty folder, as a person types it, and `npm run seed` on the result. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, inject, test } from 'vitest'
import { seedProgram } from '#scripts/seed'
import { freshDatabase } from '#test/support/app'
import { run } from '#test/support/command'
import { shortLived } from '#test/support/processes'

const root = join(import.meta.dirname, '../..')
const folders: string[] = []
const children = new Set<ChildProcess>()
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** The environment of the first start. */
let seeded: NodeJS.ProcessEnv | null = null
let demoKey = ''

/** Nothing exists: a new folder, and a new database if the suite runs on a server. */
async function createEmptyPlace(): Promise<NodeJS.ProcessEnv> {
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

/** Starts the server and returns its output up to the last line of its greeting. */
async function start(
  env: NodeJS.ProcessEnv,
  until: RegExp,
): Promise<{ printed: string; all(): string; stop(): Promise<unknown> }> {
  const child = spawn(process.execPath, [...shortLived, join(root, 'scripts/start.ts')], { cwd: root, env })
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
    all: () => printed,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

test('the first start seeds the demo and prints a working call; later ones print how to create a key', async () => {
  const env = await createEmptyPlace()
  const first = await start(env, /Every operation: \S+\n/)
  const [, key, url] = /curl -H 'Authorization: Bearer (\S+)' (\S+)/.exec(first.printed)!
  expect(first.printed).toContain(`Listening on ${new URL(url!).origin}`)
  expect(first.printed).toContain(`${new URL(url!).origin}/sandbox#key=${key}\n`)
  const response = await fetch(url!, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  expect(((await response.json()) as { total: number }).total).toBe(9)
  expect(await first.stop()).toBe(0)
  expect(first.all()).not.toContain('SANDBOX=insist')

  // SANDBOX=insist prints the warning at every start.
  const second = await start({ ...env, SANDBOX: 'insist' }, /npm run keys -- create/)
  expect(second.printed).toMatch(/Listening on http:\/\/127\.0\.0\.1:\d+/)
  expect(second.printed).not.toContain('mk_')
  expect(await second.stop()).toBe(0)
  expect(second.all().match(/SANDBOX=insist: whoever reaches 127\.0\.0\.1 can move the clock/g)).toHaveLength(
    1,
  )
  seeded = env
  demoKey = key!
})

/**
 * Sends requests on one connection, with a pause after each answer and `ahead` pending; returns all data until it was
 * closed.
 */
async function askUntilClosed(
  url: string,
  { ahead, pauseMs, onAnswer }: { ahead: number; pauseMs: number; onAnswer?(count: number): void },
): Promise<string[]> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.setEncoding('latin1')
  const head = `GET /v1/store HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${demoKey}\r\n\r\n`
  const ask = (): unknown => (socket.writable ? socket.write(head) : undefined)
  const answers: string[] = []
  socket.on('connect', () => {
    for (let n = 0; n < ahead; n += 1) ask()
  })
  socket.on('data', (text: string) => {
    for (const answer of text.split(/(?=^HTTP\/)/m)) {
      answers.push(answer)
      onAnswer?.(answers.length)
      if (pauseMs > 0) setTimeout(ask, pauseMs)
      else ask()
    }
  })
  socket.on('error', () => undefined) // the last requests may be refused
  await new Promise((resolve) => socket.once('close', resolve))
  return answers
}

test('a busy connection is closed when the server stops, and so is a slow one', async () => {
  const { printed, stop } = await start(seeded!, /npm run keys -- create/)
  const url = /Listening on (\S+)/.exec(printed)![1]!
  let stopped: Promise<unknown> | null = null
  let stoppedAt = 0
  const onAnswer = (count: number): void => {
    if (count !== 20) return
    stopped = stop()
    stoppedAt = performance.now()
  }
  // An idle connection, as browsers keep.
  const spare = connect(Number(new URL(url).port), new URL(url).hostname)
  spare.on('error', () => undefined)
  // The first always has pending requests; the other is idle most of the time.
  const slow = askUntilClosed(url, { ahead: 1, pauseMs: 400 })
  const streams = await Promise.all([askUntilClosed(url, { ahead: 3, pauseMs: 0, onAnswer }), slow])
  expect(streams[0].length).toBeGreaterThan(20)
  for (const answers of streams) {
    expect(answers.at(-1)).toMatch(/^connection: close\r$/im)
    expect(answers.slice(0, -1).join('')).not.toMatch(/^connection: close\r$/im)
    expect(answers.every((answer) => /^HTTP\/1.1 200.*\}$/s.test(answer))).toBe(true)
  }
  expect(performance.now() - stoppedAt).toBeLessThan(8000) // connections are cut off after ten seconds
  expect(await stopped).toBe(0)
})

const seed = (env: NodeJS.ProcessEnv, ...args: string[]) => run(seedProgram, args, { env })

test('seed demo prints one key per person, as one line of JSON on request', async () => {
  const { code, out, err } = await seed(seeded!, 'demo', '--json')
  expect([code, err, out.trim().split('\n').length]).toEqual([0, '', 1])
  const { stores, keys } = JSON.parse(out) as { stores: object[]; keys: { name: string; key: string }[] }
  expect(stores).toHaveLength(2)
  expect(keys.map((each) => each.name)).toEqual([
    'Demo: Olivia, all scopes',
    'Demo: Olivia, read only',
    'Demo: Marco, all scopes',
    'Demo: Ada, all scopes',
    'Demo: Bruno, all scopes',
  ])
  const text = (await seed(seeded!, 'demo')).out
  expect(text.match(/mk_live_[0-9A-Za-z]{43}/g)).toHaveLength(5)
  expect(keys.some(({ key }) => text.includes(key))).toBe(false)
})

// Rows of a cluster's stores are loaded before it is distributed.
test.skipIf(inject('nodes').length > 1)(
  'seed load prints the rows of each table and the keys, or writes these to a file',
  async () => {
    const text = (await seed(seeded!, ...'load --stores 2 --campaigns 3'.split(' '))).out
    expect(text).toMatch(/^rows {2}table\n {3}6 {2}campaigns\n\nstore +key\n/)
    expect(text).toMatch(/^load-2 {2}mk_live_[0-9A-Za-z]{43}$/m)
    const file = join(seeded!.DATA_DIR!, 'keys.json')
    const { out } = await seed(seeded!, ...'load --store load-2 --opt-outs 4 --json --keys'.split(' '), file)
    expect(JSON.parse(out)).toEqual({
      stores: 1,
      rows: { opt_outs: 4 },
      keys: [],
      seconds: expect.any(Number),
    })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
      { store: 'load-2', key: expect.stringMatching(/^mk_live_/) },
    ])
  },
  60_000,
)

test.each([
  [['load', '--stores', 'many'], /whole number/],
  [['load', '--stores', '1', '--store', 'load-1'], /not both/],
  [['nothing'], /unknown command/],
])('seed %j is refused in one clear line', async (args, reason) => {
  const refused = await seed({}, ...args)
  expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(reason) })
  expect(refused.err.trim().split('\n')).toHaveLength(1)
})
