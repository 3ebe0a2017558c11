/** Parsing DATABASE_URL as libpq does: hosts, sockets and named parameters. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { openPostgres } from '#db/open'
import { describeAddress, findAddressFault, parseAddress } from '#db/postgres/address'
import { openDatabase } from '#runtime/server/app'
import { readSettings } from '#runtime/server/settings'
import { describeConnectError } from '#runtime/server/startup-messages'

// PostgreSQL's manual, 32.1.1.2 "Connection URIs", and addresses of Cloud SQL and Heroku.
test.each([
  ['postgres://ana:pw@db.example.com:6432/shop', 'db.example.com:6432', 'ana', 'shop'],
  ['postgresql://db.example.com', 'db.example.com:5432', '', ''],
  ['postgresql://ana@localhost/shop?connect_timeout=10&application_name=x', 'localhost:5432', 'ana', 'shop'],
  ['postgresql://[2001:db8::1234]:7000/shop', '[2001:db8::1234]:7000', '', 'shop'],
  ['postgresql://one:123,two:456/shop?target_session_attrs=read-write', 'one:123,two:456', '', 'shop'],
  ['postgresql:///shop?host=db.example.com&port=6432', 'db.example.com:6432', '', 'shop'],
  ['postgresql://other@elsewhere/no?user=ana&host=here&dbname=shop', 'here:5432', 'ana', 'shop'],
  ['postgresql:///shop?host=one,two&port=1,2', 'one:1,two:2', '', 'shop'],
  ['postgresql:///shop?host=one,two&port=7', 'one:7,two:7', '', 'shop'],
  ['postgresql://%2Fvar%2Frun%2Fpostgresql/shop', '/var/run/postgresql/.s.PGSQL.5432', '', 'shop'],
  ['postgresql://ana:pw@%2frun%2fpg:6432/shop', '/run/pg/.s.PGSQL.6432', 'ana', 'shop'],
  ['postgresql:///shop?host=/var/run/postgresql&port=6432', '/var/run/postgresql/.s.PGSQL.6432', '', 'shop'],
  [
    'postgres://ana:pw@/shop?host=/cloudsql/p:eu-west1:i',
    '/cloudsql/p:eu-west1:i/.s.PGSQL.5432',
    'ana',
    'shop',
  ],
  ['postgres://ana:pw@localhost:6432/shop?host=/run/pg', '/run/pg/.s.PGSQL.6432', 'ana', 'shop'],
  ['postgres://a%40b:p%2Fw@h/sh%20op', 'h:5432', 'a@b', 'sh op'],
])('%s', (address, place, user, database) => {
  expect(describeAddress(address)).toEqual({ place, user, database })
  expect(findAddressFault(address)).toBeNull()
})

test('named connection parameters are no session settings, and the rest stays unchanged', () => {
  const named = 'host=/run/pg&port=1&user=u&password=p%26+w&dbname=e%20f'
  expect(parseAddress(`postgres://h/d?${named}&sslmode=require&sslrootcert=x&options=-c%20a%3Db`)).toEqual({
    url: 'postgres://localhost/?options=-c%20a%3Db',
    options: { path: '/run/pg/.s.PGSQL.1', ssl: false, user: 'u', password: 'p&+w', database: 'e f' },
  })
  expect(parseAddress('postgres://u:p:w@[::1]/d?sslmode=require&application_name=a+b')).toEqual({
    url: 'postgres://localhost/?application_name=a+b',
    options: {
      ...{ host: ['::1'], port: [5432], user: 'u', password: 'p:w', database: 'd' },
      ssl: { rejectUnauthorized: false, checkServerIdentity: expect.any(Function) },
    },
  })
})

test.each([
  [
    'postgres://ana:p:w@x@h:6432/shop?sslmode=verify-full&application_name=a+b',
    {
      url: 'postgres://localhost/?application_name=a+b',
      options: {
        ...{ host: ['h'], port: [6432], user: 'ana', password: 'p:w@x', database: 'shop' },
        ssl: { rejectUnauthorized: true },
      },
    },
  ],
  [
    'postgresql://one:123,two:456/shop?target_session_attrs=read-write',
    {
      url: 'postgres://localhost/',
      // The driver's own read-write takes a standby.
      options: { host: ['one', 'two'], port: [123, 456], database: 'shop', target_session_attrs: 'primary' },
    },
  ],
  [
    'postgres://a,/shop',
    {
      url: 'postgres://localhost/',
      options: { host: ['a', 'localhost'], port: [5432, 5432], database: 'shop' },
    },
  ],
  ['postgres://h', { url: 'postgres://localhost/', options: { host: ['h'], port: [5432] } }],
])('%s, and what stands around it', (address, read) => {
  expect(parseAddress(address)).toEqual(read)
  for (const around of [`${address}\n`, ` ${address}\r\n`, `${address}#x`])
    expect(parseAddress(around)).toEqual(read)
})

test("Neon's addresses, and unencoded names", () => {
  const url = 'postgres://u@h/d?sslmode=require'
  const { options } = parseAddress(`${url}&channel_binding=require&target_session_attrs=any`)
  expect(Object.keys(options)).toEqual(Object.keys(parseAddress(url).options))
  const nameOf = (address: string) => parseAddress(address).options.database
  expect(nameOf('postgres://h/sh%20op')).toBe('sh op')
  expect(nameOf('postgres://h/mü')).toBe('mü')
  expect(nameOf('postgres://h/100%')).toBe('100%')
})

test('PGHOST and PGPORT apply if the address has neither', () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  vi.stubEnv('PGHOST', '/run/pg')
  vi.stubEnv('PGPORT', '6777')
  const placeOf = (address: string): string => describeAddress(address).place
  expect(placeOf('postgres://ana@h/shop')).toBe('h:6777')
  expect(placeOf('postgres:///shop')).toBe('/run/pg/.s.PGSQL.6777')
  expect(placeOf('postgres://ana@/shop')).toBe('/run/pg/.s.PGSQL.6777')
  expect(placeOf('postgres:///shop?user=ana')).toBe('/run/pg/.s.PGSQL.6777')
  expect(placeOf('postgres:///shop?host=/other')).toBe('/other/.s.PGSQL.6777')
  expect(placeOf('postgres:///shop?host=h&port=1')).toBe('h:1')
  vi.stubEnv('PGHOST', '/cloudsql/p:eu:i')
  expect(placeOf('postgres:///shop?user=ana')).toBe('/cloudsql/p:eu:i/.s.PGSQL.6777')
  vi.stubEnv('PGHOST', 'one:7,two')
  expect(parseAddress('postgres:///shop?user=ana').options).toMatchObject({
    host: ['one', 'two'],
    port: [7, 6777],
  })
  expect(placeOf('postgres:///shop')).toBe('one:7,two:6777')
  expect(placeOf('postgres://a,/shop')).toBe('a:6777,localhost:6777')
})

test.each([
  'postgres://h:99999/d',
  'postgres://h:0/d',
  'postgres://%2/d',
  'postgres://h/d?port=x',
  'postgres://u:%zz@h/d',
  'postgres://h:x/d',
  'postgres://h:1:2/d',
  'postgres://::1/d',
  'postgres://[::1/d',
  'postgres://ana:se/cret@db:6777/shop',
  'postgres://ana:se?cret@db/shop',
  'postgres:///d?host=/a,/b',
  'postgres:///d?host=a&port=-1',
])('%s is refused as a setting', async (address) => {
  await expect(readSettings({ DATABASE_URL: address, SECRET_KEY: 'x'.repeat(32) })).rejects.toThrow(
    /DATABASE_URL: must be an address such as postgres:\/\/user:password@host:5432\/database/,
  )
})

const settings = (DATABASE_URL: string) =>
  readSettings({ DATABASE_URL, SECRET_KEY: 'x'.repeat(32), LOG_LEVEL: 'silent' })

test('a missing socket is reported by its file, without the password', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-postgres-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const refused = await openDatabase(await settings(`postgres://ana:secret@/shop?host=${folder}`)).catch(
    String,
  )
  expect(refused).toContain(`DATABASE_URL: there is no socket ${folder}/.s.PGSQL.5432: `)
  expect(refused).not.toContain('secret')
  const long = `/${'x'.repeat(120)}`
  expect(await openDatabase(await settings(`postgres:///shop?host=${long}`)).catch(String)).toContain(
    `DATABASE_URL: there is no socket ${long}/.s.PGSQL.5432: `,
  )
})

test.runIf(inject('postgresUrl'))('a server is reached by its socket, in either form', async ({ skip }) => {
  const byPort = new URL(inject('postgresUrl')!)
  const open = (url: string) => {
    const database = openPostgres(url, { reads: 1, transactions: 1 })
    onTestFinished(() => database.close())
    return database
  }
  const [{ folders }] = (await open(byPort.href).query<{ folders: string }>(
    `select current_setting('unix_socket_directories') as folders`,
    [],
  )) as [{ folders: string }]
  if (folders === '') skip('this server has no socket')
  const folder = folders.split(',')[0]!.trim()
  const { username, pathname, port } = byPort
  for (const url of [
    `postgres://${username}@/${pathname.slice(1)}?host=${folder}&port=${port}&sslmode=require`,
    `postgres://${username}@${encodeURIComponent(folder)}:${port}${pathname}`,
  ]) {
    const asked = open(url)
    // A socket connection has no address.
    expect(await asked.query(`select inet_client_addr() is null as "isBySocket", $1::int as n`, [1])).toEqual(
      [{ isBySocket: true, n: 1 }],
    )
    const inside = await asked.root
      .transaction()
      .execute((tx) => tx.selectNoFrom((eb) => eb.lit(2).as('n')).execute())
    expect(inside).toEqual([{ n: 2 }])
  }
})

test.runIf(inject('postgresUrl'))('a setting that the server does not know is reported', async () => {
  const url = new URL(inject('postgresUrl')!)
  url.searchParams.set('serch_path', 'shop')
  await expect(openDatabase(await settings(url.href))).rejects.toThrow(
    'DATABASE_URL: unrecognized configuration parameter "serch_path": leave it out of the address',
  )
})

test.each([
  ['sslmode=requires', 'sslmode: must be one of disable, allow, prefer, require, verify-ca, verify-full'],
  ['sslmode=verify-full&sslrootcert=/no/file', 'sslrootcert: the file /no/file cannot be read'],
  ['sslcrl=x', 'sslcrl: is not supported here: leave it out of the address'],
  ['sslroot=x', 'sslroot: is no parameter of PostgreSQL'],
  [
    'target_session_attrs=standby',
    'target_session_attrs: standby names a server that takes no writes: use primary',
  ],
  ['target_session_attrs=rw', 'target_session_attrs: must be one of any, read-write, primary'],
  ['connect_timeout=soon', 'connect_timeout: must be a number of seconds from 1 to 60'],
  ['gssencmode=require', 'gssencmode: require is not supported here: leave it out'],
  ['application_name=%zz', 'application_name: is not encoded as an address is'],
])('?%s is refused with the reason', (parameters, fault) => {
  expect(findAddressFault(`postgres://h/d?${parameters}`)).toBe(fault)
})

test('the parameters of libpq that a connection needs are honoured', () => {
  const optionsOf = (parameters: string) => parseAddress(`postgres://h/d?${parameters}`).options
  const file = new URL('../../package.json', import.meta.url).pathname
  expect(optionsOf(`sslmode=verify-ca&sslrootcert=${file}&connect_timeout=3`)).toMatchObject({
    connect_timeout: 3,
    ssl: {
      ca: expect.stringContaining('{'),
      rejectUnauthorized: true,
      checkServerIdentity: expect.any(Function),
    },
  })
  expect(optionsOf(`sslmode=require&sslrootcert=${file}`)).toMatchObject({
    ssl: { rejectUnauthorized: true },
  })
  expect(optionsOf('sslrootcert=system')).toMatchObject({ ssl: { rejectUnauthorized: true } })
  expect(optionsOf('sslmode=allow')).toMatchObject({ ssl: 'prefer' })
  expect(optionsOf('sslmode=disable')).toMatchObject({ ssl: false })
})

test.runIf(inject('postgresUrl'))('a server without TLS is reported as one', async ({ skip }) => {
  const url = new URL(inject('postgresUrl')!)
  const database = openPostgres(url.href, { reads: 1, transactions: 1 })
  onTestFinished(() => database.close())
  const [{ ssl }] = (await database.query<{ ssl: string }>(`select current_setting('ssl') as ssl`, [])) as [
    { ssl: string },
  ]
  if (ssl === 'on') skip('this server has TLS')
  url.searchParams.set('sslmode', 'require')
  await expect(openDatabase(await settings(url.href))).rejects.toThrow(/^DATABASE_URL: \S+ has no TLS: /)
})

test('errors without a relation to the address are not attributed to it', () => {
  const why = (error: object) =>
    describeConnectError(Object.assign(new Error('gone'), error), 'postgres://h/d')
  expect(why({ code: 'ENOTFOUND', hostname: 'secret' })).toMatch(/^DATABASE_URL: the host h is not known: /)
  for (const code of ['ENOENT', 'ENOTDIR', 'EACCES', 'EINVAL', 'EAGAIN', '42704'])
    expect(why({ code })).toBeNull()
  expect(why({ code: 'EACCES', syscall: 'connect' })).toMatch(
    /^DATABASE_URL: the socket h:5432 is not for this user: /,
  )
})
