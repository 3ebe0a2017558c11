/** Startup errors of a server or a command: one sentence that begins with the setting. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import postgres from 'postgres'
import { expect, inject, test } from 'vitest'
import { SettingsError } from '#db/settings-error'
import { openDatabase } from '#runtime/server/app'
import { startServer } from '#runtime/server/server'
import { readSettings, type Settings } from '#runtime/server/settings'
import { migrateDatabase } from '#runtime/server/startup-errors'
import { keysProgram } from '#scripts/keys'
import { storeProgram } from '#scripts/store'
import { whenFileEnds } from '#test/support/closing'
import { withDatabase } from '#test/support/cluster'
import { run } from '#test/support/command'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'merchant-faults-'))
whenFileEnds(async () => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'a-file')
writeFileSync(file, '')

const settings = (own: Record<string, string> = {}): Promise<Settings> =>
  readSettings({ DATA_DIR: join(folder, 'data'), PORT: '0', LOG_LEVEL: 'silent', ...own })

async function readRefusal(start: () => unknown): Promise<string> {
  const error = await Promise.resolve()
    .then(start)
    .then(
      () => null,
      (thrown: unknown) => thrown,
    )
  expect(error).toBeInstanceOf(SettingsError)
  return (error as Error).message
}

/** A free port, until `use` is done with it. */
async function withPort<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    return await use((server.address() as AddressInfo).port)
  } finally {
    server.close()
  }
}

test('DATA_DIR is a file, is below one, or may not be created', async () => {
  expect(await readRefusal(() => settings({ DATA_DIR: file }))).toBe(
    `DATA_DIR: ${file} is no folder: choose another path`,
  )
  expect(await readRefusal(() => settings({ DATA_DIR: join(file, 'below') }))).toMatch(
    /^DATA_DIR: .* is no folder/,
  )
})

test.runIf(process.platform === 'linux')(
  'a file system that creates no folders causes no endless loop',
  async () => {
    expect(await readRefusal(() => settings({ DATA_DIR: '/proc/none/below' }))).toMatch(
      /^DATA_DIR: .* may not be written to: /,
    )
  },
)

test('a port in use, a host of another machine', async () => {
  await withPort(async (port) => {
    expect(await readRefusal(async () => startServer(await settings({ PORT: String(port) })))).toBe(
      `PORT: ${port} on 127.0.0.1 is taken by another program: choose another PORT, or 0 for a free one`,
    )
  })
  const elsewhere = { HOST: '203.0.113.7', SANDBOX: 'insist' }
  expect(await readRefusal(async () => startServer(await settings(elsewhere)))).toMatch(
    /^HOST: 203\.0\.113\.7 is no address of this machine: /,
  )
})

test('a database that nobody serves, an unknown host', async () => {
  const port = await withPort(async (found) => found)
  const nobody = `postgres://ana:secret@127.0.0.1:${port}/shop`
  const silent = await readRefusal(async () => openDatabase(await settings({ DATABASE_URL: nobody })))
  expect(silent).toMatch(new RegExp(`^DATABASE_URL: nothing answers at 127\\.0\\.0\\.1:${port}: `))
  expect(silent).not.toContain('secret')
  expect(
    await readRefusal(async () =>
      openDatabase(await settings({ DATABASE_URL: 'postgres://host.invalid/shop' })),
    ),
  ).toMatch(/^DATABASE_URL: the host host\.invalid is not known: /)
})

test.runIf(inject('postgresUrl'))('a missing database, a user without permissions', async () => {
  const url = inject('postgresUrl')!
  const none = await settings({ DATABASE_URL: withDatabase(url, 'merchant_not_there') })
  expect(await readRefusal(() => openDatabase(none))).toMatch(
    /^DATABASE_URL: .* has no database merchant_not_there: /,
  )
  const names = { guest: `merchant_guest_${process.pid}`, empty: `merchant_empty_${process.pid}` }
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  whenFileEnds(async () => {
    await admin.unsafe(`drop database ${names.empty} with (force)`)
    await admin.unsafe(`drop role ${names.guest}`)
    await admin.end()
  })
  await admin.unsafe(`create role ${names.guest} login password 'guest'`)
  await admin.unsafe(`create database ${names.empty}`)
  const guest = new URL(withDatabase(url, names.empty))
  guest.username = names.guest
  guest.password = 'guest'
  const own = await settings({ DATABASE_URL: guest.href })
  const { database, close } = await openDatabase(own)
  const refused = readRefusal(() => migrateDatabase(own, database))
  await refused.finally(close)
  expect(await refused).toMatch(
    new RegExp(
      `^DATABASE_URL: the user ${names.guest} may not do what is needed: let it own the database \\(`,
    ),
  )
})

test('a read-only command creates no folder for a missing database', async () => {
  const mistyped = join(folder, 'dtaa')
  const env = { ...process.env, DATABASE_URL: '', DATA_DIR: mistyped }
  for (const [program, args] of [
    [keysProgram, ['list', '--store', 'aurora']],
    [storeProgram, ['list']],
  ] as const) {
    const { code, out, err } = await run(program, args, { env })
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^DATA_DIR: there is no database in .*dtaa: .*\n$/)
  }
  expect(existsSync(mistyped)).toBe(false)
})

/** Installed versions that are too old for TypeScript. */
const oldNodes = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((place) => !place.includes('node_modules'))
  .map((place) => join(place, 'node'))
  .filter((path) => existsSync(path))
  .filter((path) => {
    const [major, minor] = execFileSync(path, ['-p', 'process.versions.node'])
      .toString()
      .split('.')
      .map(Number)
    return major! < 22 || (major === 22 && minor! < 18)
  })

test('every command of package.json checks its Node version first', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  const ours = Object.entries(scripts).filter(([, line]) => line.startsWith('node '))
  expect(ours.length).toBeGreaterThan(12)
  for (const [name, line] of ours) {
    expect([name, line]).toEqual([
      name,
      expect.stringMatching(/^node --import=\.\/scripts\/cli\/(node|compiled)\.js /),
    ])
  }
})

test.runIf(oldNodes.length > 0)('a too old Node is reported in a sentence', () => {
  for (const way of ['node', 'compiled']) {
    const { status, stderr } = spawnSync(
      oldNodes[0]!,
      [`--import=./scripts/cli/${way}.js`, 'scripts/start.ts'],
      {
        cwd: root,
      },
    )
    expect(status).toBe(1)
    expect(stderr.toString()).toMatch(/^Node \S+ is too old, 22\.18 or later is needed: [^\n]+\n$/)
  }
})
