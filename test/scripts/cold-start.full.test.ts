/** The cost of a start on an existing database, and recovery of a database whose creation was killed. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'

import { openEmbedded } from '#db/embedded/open'

import { prepareServer, start } from '#test/support/processes'

const root = join(import.meta.dirname, '../..')
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Modules needed only for some providers, pages or callers, or for the first start. */
const rarelyNeeded = [
  '/node_modules/@aws-sdk/',
  '/node_modules/@modelcontextprotocol/',
  '/node_modules/nodemailer/',
  '/node_modules/pino-pretty/',
  '/node_modules/postcss/',
  '/node_modules/sanitize-html/',
  '/db/migrations/',
  '/scripts/seed/demo.ts',
]

test('a start on an existing database loads no rarely needed modules', async () => {
  const { env } = await prepareServer(async () => null)
  const list = join(env.DATA_DIR!, 'loaded-modules.json')
  const server = await start('scripts/start.ts', {
    DATABASE_URL: '',
    ...env,
    SANDBOX: 'off',
    LOADED_MODULES: list,
    NODE_OPTIONS: `--import=${join(root, 'test/support/loaded-modules.js')}`,
  })
  expect((await fetch(`${server.url}/v1/store`)).status).toBe(401)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  const loaded: string[] = JSON.parse(readFileSync(list, 'utf8'))
  const embedded = env.DATABASE_URL ? ['/node_modules/@electric-sql/', '/db/embedded/'] : []
  expect(loaded.filter((url) => [...rarelyNeeded, ...embedded].some((part) => url.includes(part)))).toEqual(
    [],
  )
  // The list contains all modules: contracts and their imports.
  expect(loaded.filter((url) => /\/operations\/[^/]+\/section\.ts$/.test(url)).length).toBeGreaterThan(10)
  expect(loaded.some((url) => url.includes('/node_modules/kysely/'))).toBe(true)
})

test('a database whose creation was killed is created again', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'merchant-unfinished-'))
  folders.push(dataDir)
  const child = spawn(process.execPath, [join(root, 'scripts/start.ts')], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: '', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' },
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  while (child.exitCode === null && !existsSync(join(dataDir, '.db.making'))) await wait(1)
  child.kill('SIGKILL')
  await ended
  expect(existsSync(join(dataDir, 'db'))).toBe(false)
  // State of another moment: PGlite takes a folder with this file for a complete database.
  mkdirSync(join(dataDir, '.db.making'), { recursive: true })
  writeFileSync(join(dataDir, '.db.making/PG_VERSION'), '18\n')
  const opened = await openEmbedded({ dataDir })
  expect(await opened.database.query('select 1 as one', [])).toEqual([{ one: 1 }])
  await opened.close()
  expect(existsSync(join(dataDir, '.db.making'))).toBe(false)
})
