/**
 * Command lines of stores, keys and migrations: some as processes, most in this one, on the data folder of a running
 * server, each with its own connections to its socket.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { openPostgres } from '#db/open'
import { newProgram, type Program } from '#scripts/cli/program'
import { keysProgram } from '#scripts/keys'
import { migrateProgram } from '#scripts/migrate'
import { storeProgram } from '#scripts/store'
import { freshDatabase } from '#test/support/app'
import { type Ran, run as runHere } from '#test/support/command'
import { emptyFolder, type Running, shortLived, start } from '#test/support/processes'

const root = join(import.meta.dirname, '../..')
const env = {
  ...process.env,
  DATABASE_URL: '',
  DATA_DIR: await emptyFolder(),
  PORT: '0',
  LOG_LEVEL: 'warn',
  SECRET_KEY: 'a secret key that only the tests use, 123',
  KEY_LEASE_MS: '50',
}

const programs = { store: storeProgram, keys: keysProgram, migrate: migrateProgram } satisfies Record<
  string,
  Program
>
type Name = keyof typeof programs
const run = (name: Name, args: readonly string[], own: NodeJS.ProcessEnv = env): Promise<Ran> =>
  runHere(programs[name], args, { env: own })

/** As its own process. */
const asProcess = (script: string, args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) =>
    execFile(
      process.execPath,
      [...shortLived, join(root, 'scripts', `${script}.ts`), ...args],
      { env },
      (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }),
    ),
  )

/** Runs a command with `--json`, which must succeed with one line. */
async function json(name: Name, args: readonly string[], own = env) {
  const { code, out, err } = await run(name, [...args, '--json'], own)
  expect([code, err]).toEqual([0, ''])
  expect(out.trimEnd().split('\n')).toHaveLength(1)
  return JSON.parse(out)
}

/** Refused: one line on standard error, nothing on standard output. */
function expectRefusal({ code, out, err }: Ran, message: string | RegExp): void {
  expect([code, out]).toEqual([1, ''])
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  expect(err).toMatch(message)
}
const refused = async (name: Name, args: readonly string[], message: string | RegExp): Promise<void> =>
  expectRefusal(await run(name, args), message)

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

let server: Running
let store: { id: string; slug: string; publicId: string; name: string; plan: string }

// Nobody uses the folder: the first command locks it, the second waits.
beforeAll(async () => {
  const [created, refusal] = await Promise.all([
    asProcess('store', [...newStore('aurora'), '--json']),
    asProcess('keys', ['create']),
  ])
  expect([created.code, created.err]).toEqual([0, ''])
  store = JSON.parse(created.out)
  expectRefusal(refusal, "required option '--store <store>' not specified")
  server = await start('scripts/start.ts', env)
})
afterAll(() => server.child.kill('SIGKILL'))

describe('while a server runs on the folder', () => {
  test('store create prints the store; list prints all of them', async () => {
    expect(store).toEqual({
      id: expect.any(String),
      slug: 'aurora',
      publicId: expect.stringMatching(/^[0-9A-Za-z]{20}$/),
      name: 'The aurora',
      plan: 'trial',
    })
    const paid = await json('store', newStore('borealis', ['--plan', 'starter', '--locale', 'es-AR']))
    expect(paid.plan).toBe('starter')
    expect(await json('store', ['list'])).toEqual({ data: [store, paid] })
  })

  test('keys create, list and revoke print what they did', async () => {
    const made = await json('keys', newKey('aurora', ['--name', 'Till', '--expires', '90d', '--env', 'test']))
    expect(made).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^mk_test_[0-9A-Za-z]{43}$/),
      prefix: made.key.slice(0, 12),
      scopes: ['platform:read', 'platform:write'],
      expiresAt: expect.stringMatching(/Z$/),
    })
    // biome-ignore lint/nursery/noJsRestrictedProperties: the processes it starts go by the machine's clock
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
    expect(shown.out).toMatch(/^id +state +member +name +scopes +until +key$/m)
    expect(shown.out).toMatch(new RegExp(`^${made.id}  revoked  .*  ${made.prefix}…$`, 'm'))
    expect(shown.out).not.toContain(made.key)
    const created = await run('keys', newKey('aurora'))
    expect([created.code, created.err]).toEqual([0, ''])
    expect(created.out).toMatch(/^mk_live_[0-9A-Za-z]{43}\nThe key is shown this once/)
    const stores = (await run('store', ['list'])).out
    expect(stores).toMatch(new RegExp(`^${store.id} +aurora +trial +The aurora$`, 'm'))
  })

  test('invalid input is refused in one line', async () => {
    const role = ['set-role', '--store', 'aurora', '--role', 'agent', '--email']
    await Promise.all([
      refused('store', newStore('aurora'), 'slug: aurora is taken'),
      refused('store', newStore('Bad Slug'), 'slug: must be lower-case'),
      refused(
        'store',
        [...newStore('other'), '--timezone', 'Mars/Base'],
        'timezone: Mars/Base is no time zone',
      ),
      refused('store', [...newStore('other'), '--country', 'XX'], 'country: must be a country'),
      refused('store', [...newStore('other'), '--currency', 'brl'], 'currency: must be a currency'),
      refused('store', [...newStore('other'), '--owner', 'me'], 'owner: must be an email address'),
      refused('keys', newKey('nowhere'), 'there is no store nowhere'),
      refused('keys', [...newKey('aurora'), '--member', 'x@y.co'], 'x@y.co is not a member'),
      refused('keys', [...newKey('aurora'), '--scopes', 'billing:write'], 'needs platform:write'),
      refused('keys', [...newKey('aurora'), '--scopes', 'all'], 'scopes: all is unknown'),
      refused('keys', newKey('aurora', ['--expires', '2001-01-01T00:00:00Z']), 'is in the past'),
      refused('keys', ['revoke', '--store', 'aurora', '--id', 'none'], 'has no key none'),
      refused('store', [...role, 'owner@aurora.example.com'], 'the last owner'),
      refused('store', [...role, 'x@y.co'], 'x@y.co is not a member'),
    ])
  })

  test('incorrect usage is reported in one line', async () => {
    await refused('keys', [], 'name a command: create, list, revoke')
    await refused('keys', ['destroy'], "unknown command 'destroy'")
    await refused('keys', ['create'], "required option '--store <store>' not specified")
    await refused('keys', newKey('aurora', ['--expires', 'soon']), 'Write 90d, or an instant')
    await refused('keys', newKey('aurora', ['--colour', 'red']), "unknown option '--colour'")
    await refused('store', newStore('x', ['--plan', 'gold']), 'Allowed choices are starter, growth, scale')
    await refused('migrate', ['now'], 'too many arguments')
  })

  test("a shop's owner gets a link if the server has an app", async () => {
    const connection = ['--store', 'aurora', '--port', 'ecommerce']
    const withApp = { ...env, ECOMMERCE_URL: 'shopify://an-app:its-secret@myshopify.com' }
    const install = ['connect', ...connection, '--provider', 'shopify', '--shop']
    expect(await json('store', [...install, 'loja.myshopify.com'], withApp)).toMatchObject({
      connected: false,
      link: expect.stringMatching(
        /^https:\/\/loja\.myshopify\.com\/admin\/oauth\/authorize\?client_id=an-app&/,
      ),
    })
    await refused('store', [...install, 'loja.myshopify.com'], 'no app at shopify')
    const both = `${withApp.ECOMMERCE_URL},tiendanube://12:its-secret@tiendanube.com?contact=ops@example.com`
    const withBoth: typeof withApp = { ...withApp, ECOMMERCE_URL: both }
    const other = ['connect', ...connection, '--provider', 'tiendanube', '--shop', 'loja.mitiendanube.com']
    expect(await json('store', other, withBoth)).toMatchObject({
      link: expect.stringMatching(
        /^https:\/\/www\.tiendanube\.com\/apps\/12\/authorize\?state=.+\.loja\.mitiendanube\.com$/,
      ),
    })
  })

  test('people, agency and connections are set', async () => {
    const person = ['--store', 'aurora', '--email', 'Ada@Example.com', '--role', 'agent']
    const ada = await json('store', ['add-member', ...person, '--name', 'Ada'])
    expect(ada).toEqual({ userId: expect.any(String), email: 'Ada@Example.com', role: 'agent' })
    await refused('store', ['add-member', ...person, '--name', 'Ada'], 'is a member of the store already')
    const branding = join(env.DATA_DIR, 'branding.json')
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
    const credentials = join(env.DATA_DIR, 'credentials.json')
    writeFileSync(credentials, '{"token":"invalid"}')
    const connect = ['connect', ...connection, '--provider', 'sandbox', '--credentials', credentials]
    await refused('store', connect, 'credentials: ')
    writeFileSync(credentials, '{"token":"the token of the shop"}')
    expect(await json('store', connect)).toEqual({ port: 'ecommerce', provider: 'sandbox', connected: true })
    await refused('store', ['connect', ...connection, '--provider', 'nobody'], 'provider: nobody')
  })

  test('connections are checked: exit code 0 if nothing is missing, otherwise 1', async () => {
    const { data } = await json('store', ['check', '--store', 'aurora'])
    expect(data).toContainEqual({
      ...{ port: 'ecommerce', part: '', provider: 'sandbox', isFine: true, state: 'connected', since: null },
      findings: [{ code: 'answers', isFine: true, message: expect.any(String) }],
    })
    expect(new Set(data.map(({ port }: { port: string }) => port)).size).toBe(6)
    const missing = await run('store', ['check', '--store', 'aurora', '--port', 'mailingList'])
    expect([missing.code, missing.err]).toEqual([1, ''])
    expect(missing.out).toMatch(
      /MISSING {2}Nothing is connected.*\n.*npm run store -- connect --port mailingList/,
    )
    await refused('store', ['check', '--store', 'nowhere'], 'nowhere')
    await refused('store', ['check', '--store', 'aurora', '--port', 'fax'], 'Allowed choices are ecommerce')
  })

  test('a key works once it is created, and not after its revocation is confirmed', async () => {
    const { id, key } = await json('keys', newKey('aurora'))
    const { status, body } = await get(server.url, key)
    expect(status).toBe(200)
    expect(body).toMatchObject({ slug: 'aurora', connected: true, subscription: { status: 'trialing' } })
    expect((await get(server.url, key, '/v1/store/branding')).body).toMatchObject({ primaryColor: '#112233' })
    await json('keys', ['revoke', '--store', 'aurora', '--id', id])
    expect((await get(server.url, key)).status).toBe(401)
  })

  test('a new role applies immediately', async () => {
    const { key } = await json('keys', newKey('aurora', ['--member', 'ada@example.com']))
    const before = await get(server.url, key, '/v1/operations')
    await json('store', ['set-role', '--store', 'aurora', '--email', 'ada@example.com', '--role', 'member'])
    const after = await get(server.url, key, '/v1/operations')
    expect(after.body.data.length).toBeGreaterThan(before.body.data.length)
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'))
  })

  test('one of two concurrent commands gets the last place, while the server answers', async () => {
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
    const [second, worker] = await Promise.all([asProcess('start', []), start('scripts/worker.ts', env)])
    expectRefusal(second, `is in use by a gateway (process ${server.child.pid}): stop it first`)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  test('migrate finds nothing to do', async () => {
    expect(await run('migrate', [])).toMatchObject({ code: 0, out: 'The database is up to date.\n' })
  })

  test('a new store is connected to the sandbox; its first sync runs', async () => {
    const store = await json('store', newStore('cetus'))
    const { key } = await json('keys', newKey('cetus'))
    expect((await get(server.url, key)).body).toMatchObject({ id: store.id, connected: true })
    await json('store', ['disconnect', '--store', 'cetus', '--port', 'ecommerce'])
    expect((await get(server.url, key)).body.connected).toBe(false)
  })

  test('after kill -9 the next command opens the folder and finds committed data', async () => {
    server.child.kill('SIGKILL')
    await server.ended
    const { code, out } = await asProcess('store', ['list', '--json'])
    expect(code).toBe(0)
    const { data } = JSON.parse(out)
    expect(data.map((each: { slug: string }) => each.slug)).toEqual(['aurora', 'borealis', 'cetus'])
    expect(readFileSync(join(env.DATA_DIR, 'credentials.json'), 'utf8')).toContain('token')
  })
})

test('a database server is migrated, and takes the same commands', async () => {
  if (!inject('postgresUrl')) return
  const { database, url } = await freshDatabase()
  await database.close()
  const own = { ...env, DATABASE_URL: url! }
  expect(await run('migrate', [], own)).toMatchObject({ code: 0 })
  const store = await json('store', newStore('delta', ['--plan', 'growth']), own)
  const { id } = await json('keys', newKey('delta'), own)
  await json('keys', ['revoke', '--store', store.id, '--id', id], own)
  const { data } = await json('keys', ['list', '--store', 'delta'], own)
  expect(data[0].revokedAt).toMatch(/Z$/)
})

describe('settings from a file', () => {
  const file = join(env.DATA_DIR, 'settings.env')

  test('an env file is read at any position of the option; the environment wins', async () => {
    writeFileSync(file, `# a comment\nDATA_DIR="${env.DATA_DIR}"\nPORT=1\nSECRET_KEY='${env.SECRET_KEY}'\n`)
    const { DATA_DIR: _, SECRET_KEY: __, ...own } = env
    for (const args of [
      ['list', '--json', '--env-file', file],
      ['--env-file', file, 'list', '--json'],
      ['list', `--env-file=${file}`, '--json'],
    ]) {
      expect(await run('store', args, { ...own })).toMatchObject({ code: 0, err: '' })
    }
    const elsewhere = join(env.DATA_DIR, 'nowhere')
    expect((await run('store', ['list', '--env-file', file], { ...own, DATA_DIR: elsewhere })).err).toContain(
      elsewhere,
    )
  })

  test('a byte order mark is skipped, another encoding is reported', async () => {
    const { DATA_DIR, SECRET_KEY, ...own } = env
    const text = `DATA_DIR="${DATA_DIR}"\nSECRET_KEY='${SECRET_KEY}'\n`
    writeFileSync(file, `\ufeff${text}`)
    const args = ['list', '--json', '--env-file', file]
    // An empty variable counts as not set.
    expect(await run('store', args, { ...own, DATA_DIR: '' })).toMatchObject({ code: 0, err: '' })
    writeFileSync(file, `\ufeff${text}`, 'utf16le')
    await refused('store', args, /^--env-file: .*settings\.env is not written in UTF-8: save it so/)
    writeFileSync(file, Buffer.concat([Buffer.from(`${text}STORE_NAME=`), Buffer.from([0xe7, 0xe3])]))
    await refused('store', args, /is not written in UTF-8/)
  })

  test('a missing or unreadable env file is reported', async () => {
    await refused(
      'store',
      ['list', '--env-file', join(env.DATA_DIR, 'none.env')],
      /^--env-file: .*none\.env cannot be read \(ENOENT\)/,
    )
    await refused('store', ['list', '--env-file'], /^--env-file: name a file/)
    expect((await run('store', ['--help'])).out).toContain('--env-file <file>')
  })
})

describe('a database that is lost in the middle of a command', () => {
  const asking = (url: string, socket?: string): Program => {
    return (terminal) =>
      newProgram(terminal, 'npm run ask --').action(async () => {
        const database = openPostgres(url, { deadlines: { statementMs: 300 }, ...(socket ? { socket } : {}) })
        await database.query('select 1', []).finally(() => database.close())
      })
  }
  const sentence = /^The database went away before this was done: .*\n$/

  test('one sentence reports a server that hangs up, and the embedded database', async () => {
    const rude = createServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
    const { port } = rude.address() as AddressInfo
    const hungUp = await runHere(asking(`postgres://nobody@127.0.0.1:${port}/none`), [], { env })
    rude.close()
    expect(hungUp).toEqual({ code: 1, out: '', err: expect.stringMatching(sentence) })
    const gone = join(await emptyFolder(), 'db.sock')
    const embedded = await runHere(asking('postgres://postgres@localhost/postgres', gone), [], { env })
    expect(embedded).toEqual({ code: 1, out: '', err: expect.stringMatching(sentence) })
  })
})
