/** A newcomer's first contribution: adds an operation while `npm run dev` runs, sees it everywhere, and removes it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { prepareServer, shortLived, until } from '#test/support/processes'
import { store } from '#test/support/store'

const root = join(import.meta.dirname, '../..')
const folder = await mkdtemp(join(tmpdir(), 'merchant-newcomer-'))
const cache = 'node_modules/.cache'
let dev: ChildProcess | null = null
afterAll(async () => {
  if (dev?.pid) process.kill(-dev.pid, 'SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** The project as cloned, with the installed packages. */
async function clone(): Promise<void> {
  for (const name of [
    'operations',
    'runtime',
    'db',
    'scripts',
    'test',
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
    'biome.json',
    '.dependency-cruiser.mjs',
    '.knip.json',
    '.gitignore',
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
  ]) {
    await cp(join(root, name), join(folder, name), { recursive: true })
  }
  // Without git, all files are linted.
  await promisify(execFile)('git', ['init', '--quiet', folder]).catch(() => null)
  const packages = await realpath(join(root, 'node_modules'))
  await mkdir(join(folder, cache), { recursive: true })
  for (const name of await readdir(packages)) {
    if (name !== '.cache') await symlink(join(packages, name), join(folder, 'node_modules', name))
  }
  await warmCheckCache(packages)
}

/** Copies the caches of `npm run check`; the copy must not share ours, whose paths it would replace. */
async function warmCheckCache(packages: string): Promise<void> {
  for (const name of ['lint.json']) {
    if (existsSync(join(root, cache, name))) await cp(join(root, cache, name), join(folder, cache, name))
  }
  // The compiler stores paths relative to its build info.
  const [from, to] = [join(root, cache), join(folder, cache)]
  const types = await readFile(join(from, 'types.tsbuildinfo'), 'utf8').catch(() => '{}')
  const known: Record<string, unknown> = JSON.parse(types)
  const movedTo = (name: string): string => {
    const path = resolve(from, name)
    const isOfPackages = name.startsWith('..') && path.startsWith(packages + sep)
    return isOfPackages ? relative(to, path) : name
  }
  for (const key of ['fileNames', 'packageJsons', 'missingPackageJsons']) {
    if (Array.isArray(known[key])) known[key] = known[key].map(movedTo)
  }
  await writeFile(join(to, 'types.tsbuildinfo'), JSON.stringify(known))
}

const flags = shortLived.map((flag) => flag.replace(root, folder))
/** The copy's compile cache is deleted with it. */
const ofCopy = { ...process.env, NODE_COMPILE_CACHE: join(folder, cache, 'compile') }

const run = (script: string, ...args: string[]) =>
  new Promise<{ code: number; output: string }>((resolve) =>
    execFile(
      process.execPath,
      [...flags, join(folder, script), ...args],
      { cwd: folder, env: ofCopy },
      (error, out, faults) => resolve({ code: error ? Number(error.code) : 0, output: out + faults }),
    ),
  )

test('one file is enough, within a minute', async () => {
  const [{ env, filled: key }] = await Promise.all([
    prepareServer(async (app) => (await store(app)).key),
    clone(),
  ])
  const scripts: Record<string, string> = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  ).scripts
  const [, ...words] = scripts.dev!.split(' ')
  dev = spawn(process.execPath, [...flags, ...words], {
    cwd: folder,
    detached: true,
    env: { ...ofCopy, ...env, PORT: '0', SECRET_KEY: 'a secret key that only the tests use, 123' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const look = (chunk: Buffer) => {
    output += chunk
  }
  dev.stdout!.on('data', look)
  dev.stderr!.on('data', look)
  /** The newest address it printed. */
  const address = () => [...output.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].at(-1)?.[0]
  await until(async () => address() !== undefined && true)
  const ask = async (method: string, path: string, body?: unknown) => {
    try {
      const response = await fetch(`${address()}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          connection: 'close',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    } catch {
      return { status: 0, text: '' } // it is restarting
    }
  }
  const path = '/v1/campaigns/shortest'
  await until(async () => (await ask('GET', path)).status === 404)

  const made = await run('scripts/new.ts', 'GET', '/campaigns/shortest')
  expect(made.output).toContain('operations/campaigns/campaigns/api/get-shortest.ts')
  const answer = await until(async () => {
    const got = await ask('GET', path)
    return got.status === 200 && got
  })
  expect(JSON.parse(answer.text)).toEqual({ store: expect.any(String) })
  const id = 'get_campaigns_shortest'
  for (const document of ['/v1/operations', '/v1/openapi.json']) {
    expect((await ask('GET', document)).text).toContain(id)
  }
  const tool = { name: 'describe_operation', arguments: { operationId: id } }
  const described = await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool })
  expect(described.text).toContain('/campaigns/shortest')

  await writeFile(join(folder, 'runtime/nobody.ts'), 'export const nothing = 0\n')
  const unsaid = await run('scripts/check.ts')
  await rm(join(folder, 'runtime/nobody.ts'))
  expect(unsaid.code).toBe(1)
  expect(unsaid.output).toMatch(/Unused files \(1\)\s+runtime\/nobody\.ts/)
  expect(unsaid.output).toContain(
    'operations/campaigns/campaigns/api/get-shortest.ts: still has the description that `npm run new` wrote → say in one sentence',
  )

  const file = join(folder, 'operations/campaigns/campaigns/api/get-shortest.ts')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace("'platform:read'", "'platform:dance'"))
  const faulty = await run('scripts/openapi.ts')
  expect(faulty.code).not.toBe(0)
  expect(faulty.output).toContain('operations/campaigns/campaigns/api/get-shortest.ts')
  expect(faulty.output).toContain('platform:dance')

  await rm(file)
  await until(async () => (await ask('GET', path)).status === 404)
  expect((await ask('GET', '/v1/operations')).text).not.toContain(id)
})
