/** The command lines as people run them: processes of their own, on the embedded folder, also while a server has it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { freshDatabase } from '#test/support/app'

// Every command is a process that opens a database.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const root = join(import.meta.dirname, '../..')
const dataDir = mkdtempSync(join(tmpdir(), 'merchant-cli-'))
const servers = new Set<ChildProcess>()
const embedded = {
  ...process.env,
  DATABASE_URL: '',
  DATA_DIR: dataDir,
  PORT: '0',
  LOG_LEVEL: 'warn',
  SECRET_KEY: 'a secret key that only the tests use, 123',
  RATE_LIMIT_IP: '100000',
  RATE_LIMIT_STORE: '100000',
}
afterAll(() => {
  for (const child of servers) child.kill('SIGKILL')
  rmSync(dataDir, { recursive: true, force: true })
})

interface Run {
  code: number | null
  out: string
  err: string
}

function run(script: string, args: string[], env: NodeJS.ProcessEnv = embedded): Promise<Run> {
  const child = spawn(process.execPath, [join(root, 'scripts', `${script}.ts`), ...args], { cwd: root, env })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (said.out += chunk))
  child.stderr.on('data', (chunk) => (said.err += chunk))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...said })))
}

/** Runs a command with `--json`, which must succeed with one line. */
async function json(script: string, args: string[], env = embedded) {
  const { code, out, err } = await run(script, [...args, '--json'], env as NodeJS.ProcessEnv)
  expect([code, err]).toEqual([0, ''])
  expect(out.trimEnd().split('\n')).toHaveLength(1)
  return JSON.parse(out)
}

/** Runs a command that must be refused: one line on standard error, nothing on the other. */
async function refused(script: string, args: string[], message: string | RegExp): Promise<void> {
  const { code, out, err } = await run(script, args)
  expect([code, out]).toEqual([1, ''])
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  expect(err).toMatch(message)
}

async function start(script = 'start', env: NodeJS.ProcessEnv = embedded) {
  const child = spawn(process.execPath, [join(root, 'scripts', `${script}.ts`)], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  servers.add(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const ended = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      servers.delete(child)
      resolve(code)
    }),
  )
  while (!/http:\/\/\S+|worker is running/.test(said)) {
    if (child.exitCode !== null) throw new Error(`ended at its start: ${said}`)
    await wait(50)
  }
  return { child, ended, url: /http:\/\/[^\s']+/.exec(said)?.[0] ?? '' }
}

const newStore = (slug: string, more: string[] = []) => [
  'create',
  ...['--slug', slug, '--name', `The ${slug}`, '--owner', `owner@${slug}.example.com`],
  ...['--country', 'BR', '--currency', 'BRL', '--timezone', 'America/Sao_Paulo', ...more],
]
const newKey = (slug: string, more: string[] = []) => [
  'create',
  ...['--store', slug, '--member', `owner@${slug}.example.com`],
  ...['--scopes', 'platform:read,platform:write', ...more],
]
const get = async (url: string, key: string, path = '/v1/store') => {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const body = (await response.json()) as Record<string, unknown> & { data: unknown[] }
  return { status: response.status, body, headers: response.headers }
}

describe('on a folder that nobody has open', () => {
  let store: { id: string; slug: string; publicId: string; name: string; plan: string }

  beforeAll(async () => {
    store = await json('store', newStore('aurora'))
  })

  test('store create answers the store; list has them all', async () => {
    expect(store).toEqual({
      id: expect.any(String),
      slug: 'aurora',
      publicId: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
      name: 'The aurora',
      plan: 'trial',
    })
    const paid = await json('store', newStore('borealis', ['--plan', 'starter']))
    expect(paid.plan).toBe('starter')
    expect(await json('store', ['list'])).toEqual({ data: [store, paid] })
  })

  test('keys create, list and revoke answer what they did', async () => {
    const made = await json('keys', newKey('aurora', ['--name', 'Till', '--expires', '90d', '--env', 'test']))
    expect(made).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^mk_test_[0-9A-Za-z]{43}$/),
      prefix: made.key.slice(0, 12),
      scopes: ['platform:read', 'platform:write'],
      expiresAt: expect.stringMatching(/Z$/),
    })
    const days = (Date.parse(made.expiresAt) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(89.9)
    expect(days).toBeLessThanOrEqual(90)
    const until = await json(
      'keys',
      newKey(store.id, ['--member', 'owner@aurora.example.com', '--expires', '2999-01-01T00:00:00+03:00']),
    )
    expect(until.expiresAt).toBe('2998-12-31T21:00:00.000Z')
    const revoked = await json('keys', ['revoke', '--store', 'aurora.example.com', '--id', made.id])
    expect(revoked).toEqual({ id: made.id, revokedAt: expect.stringMatching(/Z$/) })
    const { data } = await json('keys', ['list', '--store', 'aurora'])
    expect(data[1]).toEqual({
      id: made.id,
      prefix: made.prefix,
      name: 'Till',
      scopes: made.scopes,
      member: 'owner@aurora.example.com',
      expiresAt: made.expiresAt,
      revokedAt: revoked.revokedAt,
      lastUsedAt: null,
    })
    const shown = await run('keys', ['list', '--store', 'aurora'])
    expect(shown.out).toContain(`${made.prefix}…  revoked`)
    expect(shown.out).not.toContain(made.key)
    const told = await run('keys', newKey('aurora'))
    expect([told.code, told.err]).toEqual([0, ''])
    expect(told.out).toMatch(/^mk_live_[0-9A-Za-z]{43}\nThe key is shown this once/)
    expect((await run('store', ['list'])).out).toContain(`${store.id}  aurora  trial  The aurora`)
  })

  test('what cannot be is refused in one line', async () => {
    await refused('store', newStore('aurora'), 'slug: aurora is taken')
    await refused('store', newStore('Bad Slug'), 'slug: must be lower-case')
    await refused(
      'store',
      [...newStore('other'), '--timezone', 'Mars/Base'],
      'timezone: Mars/Base is no time zone',
    )
    await refused('store', [...newStore('other'), '--country', 'XX'], 'country: must be a country')
    await refused('store', [...newStore('other'), '--currency', 'brl'], 'currency: must be a currency')
    await refused('store', [...newStore('other'), '--owner', 'me'], 'owner: must be an email address')
    await refused('keys', newKey('nowhere'), 'there is no store nowhere')
    await refused('keys', [...newKey('aurora'), '--member', 'x@y.co'], 'x@y.co is not a member')
    await refused('keys', [...newKey('aurora'), '--scopes', 'billing:write'], 'needs platform:write')
    await refused('keys', [...newKey('aurora'), '--scopes', 'all'], 'scopes: all is unknown')
    await refused('keys', newKey('aurora', ['--expires', '2001-01-01T00:00:00Z']), 'is in the past')
    await refused('keys', ['revoke', '--store', 'aurora', '--id', 'none'], 'has no key none')
    const role = ['set-role', '--store', 'aurora', '--role', 'agent', '--email']
    await refused('store', [...role, 'owner@aurora.example.com'], 'the last owner')
    await refused('store', [...role, 'x@y.co'], 'x@y.co is not a member')
  })

  test('bad use is told in one line, and how it is meant with --help', async () => {
    await refused('keys', [], 'name a command: create, list, revoke')
    await refused('keys', ['destroy'], "unknown command 'destroy'")
    await refused('keys', ['create'], "required option '--store <store>' not specified")
    await refused('keys', newKey('aurora', ['--expires', 'soon']), 'Write 90d, or an instant')
    await refused('keys', newKey('aurora', ['--colour', 'red']), "unknown option '--colour'")
    await refused('store', newStore('x', ['--plan', 'gold']), 'Allowed choices are starter, growth, scale')
    await refused('migrate', ['now'], 'too many arguments')
    for (const [script, args, text] of [
      ['keys', ['--help'], 'revoke'],
      ['keys', ['create', '--help'], '--scopes'],
      ['store', ['--help'], 'set-agency'],
      ['store', ['connect', '--help'], '--credentials'],
      ['migrate', ['--help'], 'up to date'],
      ['worker', ['--help'], 'jobs'],
    ] as const) {
      const { code, out } = await run(script, [...args])
      expect([script, code]).toEqual([script, 0])
      expect(out).toContain(text)
    }
  })

  test('people, agency and connections are set', async () => {
    const person = ['--store', 'aurora', '--email', 'Ada@Example.com', '--role', 'agent']
    const ada = await json('store', ['add-member', ...person, '--name', 'Ada'])
    expect(ada).toEqual({ userId: expect.any(String), email: 'Ada@Example.com', role: 'agent' })
    await refused('store', ['add-member', ...person, '--name', 'Ada'], 'is a member of the store already')
    const branding = join(dataDir, 'branding.json')
    writeFileSync(branding, '{"primaryColor":"#112233","hideServiceBrand":true}')
    const agency = ['set-agency', '--store', 'aurora', '--name', 'Studio', '--branding', branding]
    expect(await json('store', agency)).toEqual({ agencyId: expect.any(String), name: 'Studio' })
    writeFileSync(branding, '{"primaryColor":"red"}')
    await refused('store', agency, 'primaryColor: must be #rrggbb')
    writeFileSync(branding, '{')
    await refused('store', agency, 'is not valid JSON')

    const connection = ['--store', 'aurora', '--port', 'ecommerce']
    expect(await json('store', ['disconnect', ...connection])).toMatchObject({ connected: false })
    await refused('store', ['disconnect', ...connection], 'is not connected')
    const credentials = join(dataDir, 'credentials.json')
    writeFileSync(credentials, '{"token":"invalid"}')
    const connect = ['connect', ...connection, '--provider', 'sandbox', '--credentials', credentials]
    await refused('store', connect, 'credentials: ')
    writeFileSync(credentials, '{"token":"the token of the shop"}')
    expect(await json('store', connect)).toEqual({ port: 'ecommerce', provider: 'sandbox', connected: true })
    await refused('store', ['connect', ...connection, '--provider', 'nobody'], 'provider: nobody')
  })
})

describe('while a server runs on the folder', () => {
  let server: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    server = await start()
  })

  test('a key works the moment it is made, and no more once its revocation is answered', async () => {
    const { id, key } = await json('keys', newKey('aurora'))
    const { status, body } = await get(server.url, key)
    expect(status).toBe(200)
    expect(body).toMatchObject({ slug: 'aurora', connected: true, subscription: { status: 'trialing' } })
    expect((await get(server.url, key, '/v1/store/branding')).body).toMatchObject({ primaryColor: '#112233' })
    await json('keys', ['revoke', '--store', 'aurora', '--id', id])
    expect((await get(server.url, key)).status).toBe(401)
  })

  test('a new role holds at once', async () => {
    const { key } = await json('keys', newKey('aurora', ['--member', 'ada@example.com']))
    const before = await get(server.url, key, '/v1/operations')
    await json('store', ['set-role', '--store', 'aurora', '--email', 'ada@example.com', '--role', 'member'])
    const after = await get(server.url, key, '/v1/operations')
    expect(after.body.data.length).toBeGreaterThan(before.body.data.length)
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  })

  test('of two at once for the last place one gets it, while the server answers', async () => {
    const { data } = await json('keys', ['list', '--store', 'borealis'])
    expect(data).toHaveLength(0)
    const { key } = await json('keys', newKey('borealis'))
    const asking = { stop: false, statuses: [] as number[] }
    const asked = (async () => {
      while (!asking.stop) asking.statuses.push((await get(server.url, key, '/v1/stores/team')).status)
    })()
    for (let made = 1; made < 19; made += 3) {
      await Promise.all([1, 2, 3].map(() => json('keys', newKey('borealis'))))
    }
    const last = await Promise.all([1, 2].map(() => run('keys', newKey('borealis'))))
    asking.stop = true
    await asked
    expect(last.map((each) => each.code).sort(), JSON.stringify(last)).toEqual([0, 1])
    expect(last.map((each) => each.err).join('')).toContain('20 active keys')
    expect(new Set(asking.statuses)).toEqual(new Set([200]))
  })

  test('a second server is refused in one line, a worker is not', async () => {
    const second = await run('start', [])
    expect(second.code).toBe(1)
    expect(second.err.trimEnd().split('\n')).toHaveLength(1)
    expect(second.err).toContain(`is in use by a gateway (process ${server.child.pid}): stop it first`)
    const worker = await start('worker')
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  test('migrate finds nothing to do', async () => {
    expect(await run('migrate', [])).toMatchObject({ code: 0, out: 'The database is up to date.\n' })
  })

  test('a store made now is connected to the sandbox; its first sync runs', async () => {
    const store = await json('store', newStore('cetus'))
    const { key } = await json('keys', newKey('cetus'))
    expect((await get(server.url, key)).body).toMatchObject({ id: store.id, connected: true })
    await json('store', ['disconnect', '--store', 'cetus', '--port', 'ecommerce'])
    expect((await get(server.url, key)).body.connected).toBe(false)
  })

  test('once it is killed, the next command has the folder and what was committed', async () => {
    server.child.kill('SIGKILL')
    await server.ended
    const { data } = await json('store', ['list'])
    expect(data.map((each: { slug: string }) => each.slug)).toEqual(['aurora', 'borealis', 'cetus'])
    expect(readFileSync(join(dataDir, 'credentials.json'), 'utf8')).toContain('token')
  })
})

test('a database server is migrated, and takes the same commands', async () => {
  if (!inject('postgresUrl')) return
  const { database, url } = await freshDatabase()
  await database.close()
  const env = { ...embedded, DATABASE_URL: url! }
  expect(await run('migrate', [], env)).toMatchObject({ code: 0 })
  const store = await json('store', newStore('delta', ['--plan', 'growth']), env)
  const { id } = await json('keys', newKey('delta'), env)
  await json('keys', ['revoke', '--store', store.id, '--id', id], env)
  const { data } = await json('keys', ['list', '--store', 'delta'], env)
  expect(data[0].revokedAt).toMatch(/Z$/)
})
