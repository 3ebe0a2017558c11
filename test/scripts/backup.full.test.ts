/** `npm run backup`, `restore` and `move`: everything arrives, or nothing; damage is reported. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { resolveDataDir } from '#runtime/server/settings'
import { backupProgram } from '#scripts/backup'
import { copyFiles } from '#scripts/copy/files'
import { openBackup } from '#scripts/copy/folder'
import { moveProgram } from '#scripts/move'
import { restoreProgram } from '#scripts/restore'
import { seedDemo } from '#scripts/seed/demo'
import { whenFileEnds } from '#test/support/closing'
import { createDatabase, dropDatabase, withDatabase } from '#test/support/cluster'
import { run } from '#test/support/command'
import { call, emptyFolder, prepareServer, shortLived, start, until } from '#test/support/processes'
import { emptyPlace, newFolder, openFrom, readSums } from './databases.ts'

const root = join(import.meta.dirname, '../..')
const nodes = inject('nodes')
const isCluster = nodes.length > 1

/** The demo's store, a file, and texts with line breaks and quotes that break naive formats. */
async function filled(): Promise<{ env: Record<string, string>; key: string }> {
  const { env, filled: key } = await prepareServer(async (app) => {
    const demo = await seedDemo(app.services, 'owner')
    const { root: db } = app.services.database
    for (const [n, text] of odd.entries()) {
      await db
        .insertInto('server_settings')
        .values({ name: `odd ${n} ${text}`, value: JSON.stringify({ text }) })
        .execute()
    }
    return demo.keys[0]!.key
  })
  return { env, key }
}

const odd = [
  'a "quoted", (bracketed) \\ and\nbroken\r\nline\ttab',
  "it's {1,2} NULL \u2028 \u2029 \ufeff",
  '🛒 ção ç ل 日本',
  ...fc.sample(fc.string({ unit: 'grapheme', maxLength: 40 }), { seed: 7, numRuns: 40 }),
].map((text) => text.replaceAll('\0', ''))

/** Made once, by the first test that needs it. */
let made: Promise<string> | null = null
function backup(): Promise<string> {
  made ??= (async () => {
    const { env } = await filled()
    const folder = newFolder()
    expect(await run(backupProgram, [folder], { env })).toMatchObject({ code: 0 })
    return folder
  })()
  return made
}

test.skipIf(isCluster)('a backup of a running server is restored elsewhere unchanged', async () => {
  const { env, key } = await filled()
  const server = await start('scripts/start.ts', { ...env, WORKER: 'off' })
  const written: string[] = []
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      const { status, body } = await call(server.url, key, 'POST', '/v1/campaigns/lists', {
        name: `L${written.length}`,
      })
      expect(status).toBe(201)
      written.push((body as { id: string }).id)
      // A store has at most 200 lists.
      await wait(50)
    }
  })()
  const folder = newFolder()
  await until(async () => written.length > 3)
  const before = written.length
  const saved = await run(backupProgram, [folder], { env })
  const after = written.length
  isOver = true
  await writing
  expect(saved).toMatchObject({ code: 0 })
  expect(saved.out).toMatch(/^Saved: \d+ tables, \d+ rows, \d+ files in/)
  expect(statSync(join(folder, 'backup.json')).mode & 0o077).toBe(0)
  made = Promise.resolve(folder)
  server.child.kill('SIGKILL')
  await server.ended

  const place = await emptyPlace()
  // The secret key comes from the environment of `start`, as for the first server.
  const restored = await run(restoreProgram, [folder], { env: place })
  expect(restored).toMatchObject({ code: 0, out: expect.stringMatching(/^Restored as of \S+: \d+ tables/) })
  const { tables } = JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8')) as {
    tables: { name: string; rows: number; sum: string }[]
  }
  expect(Object.fromEntries(tables.map(({ name, rows, sum }) => [name, `${rows} ${sum}`]))).toEqual(
    await readSums(place),
  )

  const second = await start('scripts/start.ts', { ...place, WORKER: 'off' })
  const { body } = await call(second.url, key, 'GET', '/v1/campaigns/lists?limit=100')
  const lists = (body as { data: { id: string }[] }).data.map(({ id }) => id)
  const there = written.filter((id) => lists.includes(id)).length
  // Everything up to one instant during the backup, and nothing after it.
  expect(there).toBeGreaterThanOrEqual(before)
  expect(there).toBeLessThanOrEqual(after + 1)
  expect(written.slice(0, there).every((id) => lists.includes(id))).toBe(true)
  expect((await call(second.url, key, 'POST', '/v1/campaigns/lists', { name: 'After' })).status).toBe(201)
  // The demo was filled at the address of port 3000, the second server has a free port.
  const { data: operations } = (await call(second.url, key, 'GET', '/v1/operations')).body as {
    data: { method: string; path: string }[]
  }
  const files = new Set<string>()
  for (const { path } of operations.filter(({ method, path }) => method === 'GET' && !/[{:]/.test(path))) {
    const answer = JSON.stringify((await call(second.url, key, 'GET', `/v1${path}`)).body)
    for (const [file] of answer.matchAll(/http:\/\/[\w.:]+\/files\/[\w./-]+/g)) files.add(file)
  }
  expect(files.size).toBeGreaterThan(10)
  for (const file of files) {
    expect([file, file.startsWith(`${second.url}/files/`)]).toEqual([file, true])
    expect([200, 403]).toContain((await fetch(file, { method: 'HEAD' })).status)
  }
  second.child.kill('SIGKILL')
  await second.ended
})

test.skipIf(isCluster)('a damaged backup is reported and leaves nothing behind', async () => {
  const folder = await backup()
  const place = await emptyPlace()
  const damaged = async (harm: (path: string) => void): Promise<string> => {
    const copy = newFolder()
    cpSync(folder, copy, { recursive: true })
    harm(copy)
    const { code, err } = await run(restoreProgram, [copy], { env: place })
    expect(code).toBe(1)
    return err
  }
  const stores = (path: string): string => join(path, 'rows/public.stores.gz')
  expect(await damaged((path) => rmSync(join(path, 'backup.json')))).toMatch(/is no finished backup/)
  expect(await damaged((path) => rmSync(stores(path)))).toMatch(
    /public\.stores\.gz cannot be read \(ENOENT\)/,
  )
  expect(
    await damaged((path) => writeFileSync(stores(path), readFileSync(stores(path)).subarray(0, 60))),
  ).toMatch(/cannot be read \(Z_BUF_ERROR\): the backup is damaged/)
  expect(
    await damaged((path) => {
      const text = gunzipSync(readFileSync(stores(path))).toString()
      writeFileSync(stores(path), gzipSync(text.replaceAll('Aurora', 'Aurore')))
    }),
  ).toMatch(
    /Of the table public\.stores \d+ rows arrived of \d+, or others than there were: nothing was kept/,
  )
  expect(
    await damaged((path) => {
      const file = join(path, 'backup.json')
      writeFileSync(file, readFileSync(file, 'utf8').replace('"0047-directory"', '"9999-tomorrow"'))
    }),
  ).toMatch(/newer than this code, which does not know its migration 9999-tomorrow/)
  // Nothing of them stayed: the complete one is restored.
  const other = { ...place, SECRET_KEY: 'another secret key of some other server' }
  expect(await run(restoreProgram, [folder], { env: other })).toMatchObject({
    code: 0,
    err: expect.stringMatching(/^SECRET_KEY is another than/m),
  })
  expect((await run(restoreProgram, [folder], { env: place })).err).toMatch(
    /There are stores in this database already/,
  )
})

function restoring(
  folder: string,
  env: Record<string, string>,
): { child: ChildProcess; ended: Promise<unknown> } {
  const child = spawn(process.execPath, [...shortLived, join(root, 'scripts/restore.ts'), folder], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  whenFileEnds(() => {
    child.kill('SIGKILL') // no effect if it has ended
    return ended
  })
  return { child, ended }
}

test.skipIf(isCluster)('killed at any moment, a restore leaves no store and can be run again', async () => {
  const folder = await backup()
  const place = await emptyPlace()
  let kills = 0
  for (const ms of [1200, 2500]) {
    const { child, ended } = restoring(folder, place)
    await Promise.race([ended, wait(ms)])
    if (child.exitCode === null) kills += 1
    child.kill('SIGKILL')
    await ended
    if (child.exitCode === 0) break
  }
  expect(kills).toBeGreaterThan(0)
  const last = await run(restoreProgram, [folder], { env: place })
  if (last.code !== 0) expect(last.err).toMatch(/There are stores in this database already/)
  const { tables } = JSON.parse(readFileSync(join(folder, 'backup.json'), 'utf8'))
  const sums = await readSums(place)
  for (const { name, rows, sum } of tables) expect([name, sums[name]]).toEqual([name, `${rows} ${sum}`])
})

test('files and the secret key are copied; a running server is reported, since its later writes would be lost', async () => {
  const dataDir = await emptyFolder()
  const secret = 'f'.repeat(64)
  writeFileSync(join(dataDir, 'secret-key'), secret)
  cpSync(join(root, 'LICENSE'), join(dataDir, 'files/a/b.txt'), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(dataDir, 'files/.tmp/unfinished'), { recursive: true })
  const env = { DATA_DIR: dataDir }
  const server = await start('scripts/start.ts', {
    ...env,
    DATABASE_URL: '',
    WORKER: 'off',
    SANDBOX: 'off', // no demo is needed here
    LOG_LEVEL: 'warn',
  })
  const url = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  expect(await run(moveProgram, [], { env: { ...env, ...url } })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^DATA_DIR: a server runs on .*: stop it first/),
  })
  const folder = newFolder()
  expect(await run(backupProgram, [folder], { env })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ \d+ files in .*\nKeep it where nobody reads it: the secret key is in it/),
  })
  expect(await run(restoreProgram, [folder], { env })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^DATA_DIR: a server runs on .*: stop it first/),
  })
  server.child.kill('SIGKILL')
  await server.ended
  expect((await run(moveProgram, [], { env })).err).toMatch(/^DATABASE_URL: name the PostgreSQL/)
  expect((await run(moveProgram, [], { env: { ...url, DATA_DIR: newFolder() } })).err).toMatch(
    /^DATA_DIR: there is no database in/,
  )
  expect((await run(moveProgram, [], { env: { ...env, ...url } })).err).toMatch(
    /^DATABASE_URL: nothing answers at 127\.0\.0\.1:1/,
  )
  expect((await run(backupProgram, [folder], { env })).err).toMatch(/is not empty: name a folder/)

  // With SECRET_KEY set, the stored key opens nothing.
  const given = { ...env, SECRET_KEY: 'a secret key that is given from now on' }
  const withoutIt = newFolder()
  expect((await run(backupProgram, [withoutIt], { env: given })).out).toMatch(/Keep SECRET_KEY apart from it/)
  expect(existsSync(join(withoutIt, 'secret-key'))).toBe(false)

  const place = { DATA_DIR: newFolder() }
  const saved = join(folder, 'files/a/b.txt')
  for (const [content, refusal] of [
    [
      'x'.repeat(readFileSync(saved).length),
      /A file in .* was changed after the backup: nothing is restored/,
    ],
    ['', /^Of 1 files \(\d+ bytes\) the backup has 1 \(0 bytes\): nothing is restored/],
  ] as const) {
    writeFileSync(saved, content)
    expect((await run(restoreProgram, [folder], { env: place })).err).toMatch(refusal)
    expect(existsSync(join(place.DATA_DIR, 'db'))).toBe(false)
  }
  cpSync(join(root, 'LICENSE'), saved)
  const contents = readFileSync(join(folder, 'backup.json'))
  for (const text of ['null', '{"format":1}', '[]']) {
    writeFileSync(join(folder, 'backup.json'), text)
    expect((await run(restoreProgram, [folder], { env: place })).err).toMatch(
      /backup\.json is not what a backup/,
    )
  }
  writeFileSync(join(folder, 'backup.json'), contents)
  expect(await run(restoreProgram, [folder], { env: place })).toMatchObject({ code: 0 })
  expect(readFileSync(join(place.DATA_DIR, 'secret-key'), 'utf8')).toBe(secret)
  expect(readFileSync(join(place.DATA_DIR, 'files/a/b.txt'))).toEqual(readFileSync(join(root, 'LICENSE')))
})

test.skipIf(isCluster)('files behind links are copied; a target among the files is refused', async () => {
  const { env } = await prepareServer(async () => null)
  const files = join(resolveDataDir(env), 'files')
  const elsewhere = newFolder()
  cpSync(join(root, 'LICENSE'), join(elsewhere, 'one.txt'), { recursive: true })
  mkdirSync(files, { recursive: true })
  const { count } = await copyFiles(files, newFolder())
  symlinkSync(elsewhere, join(files, 'volume'))
  symlinkSync(join(elsewhere, 'one.txt'), join(files, 'two.txt'))
  symlinkSync(files, join(elsewhere, 'round'))
  symlinkSync('/nowhere/at/all', join(files, 'dangling'))
  const to = newFolder()
  expect(await copyFiles(files, to)).toMatchObject({ count: count + 2 })
  expect(readFileSync(join(to, 'volume/one.txt'))).toEqual(readFileSync(join(root, 'LICENSE')))
  for (const below of ['new', 'volume/new', 'volume/round/no/where']) {
    const { code, err } = await run(backupProgram, [join(files, below)], { env })
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/ is inside the folder of the files itself: name another$/m),
    ])
    expect(existsSync(join(files, below))).toBe(false)
  }
  const file = join(elsewhere, 'one.txt')
  for (const folder of [file, join(file, 'new'), elsewhere])
    expect((await run(backupProgram, [folder], { env })).err).toMatch(
      /is not empty: name a folder|cannot be made \(ENOTDIR\)/,
    )
})

test.skipIf(isCluster)('rows of any width are copied, and the database stays unchanged', async () => {
  const { env } = await prepareServer(async () => null)
  const lengths = [0, 1, 2_000_000, 9_000_000]
  const database = await openFrom(env)
  await database.root
    .insertInto('server_settings')
    .values(
      lengths.map((n) => ({ name: `wide ${n}`, value: JSON.stringify({ text: 'ç"\n'.repeat(n / 3) }) })),
    )
    .execute()
  // As a database from before an upgrade.
  await database.query(
    `update kysely_migration set name = '0000-of-before' where name = '0001-foundation'`,
    [],
  )
  const names = await database.query<{ name: string }>('select name from kysely_migration order by 1', [])
  await database.close()
  const folder = newFolder()
  expect(await run(backupProgram, [folder], { env })).toMatchObject({ code: 0 })
  const after = await openFrom(env)
  expect(await after.query('select name from kysely_migration order by 1', [])).toEqual(names)
  await after.close()
  const backup = await openBackup(folder)
  const table = backup.tables.find(({ name }) => name === 'public.server_settings')!
  let rows = 0
  for await (const some of backup.readRows(table)) rows += some.length
  expect(rows).toBe(table.rows)
  expect(table.widest).toBeGreaterThan(9_000_000)
})

test('a foreign database is reported, and nothing is created in it', async () => {
  if (!inject('postgresUrl')) return
  const name = `merchant_empty_${process.pid}`
  await createDatabase(nodes, name)
  whenFileEnds(() => dropDatabase(nodes, name))
  const folder = newFolder()
  const env = { DATA_DIR: newFolder(), DATABASE_URL: withDatabase(nodes[0]!, name) }
  expect(await run(backupProgram, [folder], { env })).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^DATABASE_URL: there is nothing of ours in this database/),
  })
  expect(existsSync(folder)).toBe(false)
})
