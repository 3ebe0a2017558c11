/** `Dockerfile` and `compose.yaml` name existing files and settings. No image is built. */
import { execFileSync, execSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const dockerfile = read('Dockerfile')
const compose = read('compose.yaml')
const manifest = JSON.parse(read('package.json'))

interface LockedPackage {
  version: string
  license: string
  dev?: boolean
  devOptional?: boolean
}

const locked: Record<string, LockedPackage> = JSON.parse(read('package-lock.json')).packages
/** The packages that `npm ci --omit=dev` installs. */
const deployed = Object.entries(locked).flatMap(([path, { version, license, dev, devOptional }]) =>
  path === '' || dev || devOptional
    ? []
    : [{ path, license, name: `${path.split('node_modules/').at(-1)}@${version}` }],
)

const findCommands = (text: string, key: RegExp): string[] =>
  [...text.matchAll(key)].map(([, list]) => (JSON.parse(list!) as string[]).join(' '))

test('files copied into the image exist and are not ignored', () => {
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, all]) =>
    all!.split(' '),
  )
  expect(sources).toEqual(
    expect.arrayContaining(['package-lock.json', 'runtime', 'db', 'operations', 'scripts']),
  )
  const letThrough = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'))
  for (const source of sources) {
    expect([source, existsSync(join(root, source))]).toEqual([source, true])
    expect(letThrough).toContain(`!${source}`)
  }
})

test('the image uses our Node version, and no server runs as root', () => {
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
  const own = `node:${manifest.devDependencies.node}-bookworm-slim`
  expect(images).toEqual([own, own])
  expect(dockerfile.lastIndexOf('USER node')).toBeLessThan(dockerfile.lastIndexOf('CMD ['))
  expect(dockerfile.lastIndexOf('USER node')).toBeGreaterThan(dockerfile.lastIndexOf('COPY '))
})

test('the bill of materials lists the packages of servers, and no other', () => {
  const [, command] = dockerfile.match(/^RUN (.+ npm sbom .+) >sbom\.json$/m)!
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bill-'))
  try {
    for (const path of [
      'package.json',
      'package-lock.json',
      ...deployed.map((each) => `${each.path}/package.json`),
    ]) {
      cpSync(join(root, path), join(folder, path))
    }
    const bill = JSON.parse(execSync(command!, { cwd: folder, encoding: 'utf8', maxBuffer: 1e8 }))
    const listed = bill.components.map((each: { 'bom-ref': string }) => each['bom-ref'].split('|')[0])
    expect(new Set(listed)).toEqual(new Set(deployed.map((each) => each.name)))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('licences of the packages of servers demand nothing but a notice', () => {
  const allowed = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0', 'Unlicense']
  const choices = (licence: string) => licence.replaceAll(/[()]/g, '').split(' OR ')
  const others = deployed.filter(({ license }) => !choices(license).some((each) => allowed.includes(each)))
  expect(others).toEqual([])
})

test("servers are started with npm's commands, but without npm", () => {
  expect(findCommands(dockerfile, /^CMD (\[.+\])$/gm)).toEqual([manifest.scripts.start])
  expect(findCommands(compose, /^ {4}command: (\[.+\])$/gm)).toEqual([
    manifest.scripts.migrate,
    manifest.scripts.worker,
  ])
})

test("modules of servers are compiled when the image is built, with the servers' flags", () => {
  const [made] = findCommands(dockerfile, /^RUN (\[.+\])$/gm)
  expect(dockerfile.indexOf('RUN [')).toBeGreaterThan(dockerfile.lastIndexOf('USER node'))
  const folder = mkdtempSync(join(tmpdir(), 'merchant-compiled-'))
  try {
    const env = { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: folder }
    const run = (command: string) => {
      execFileSync(process.execPath, command.split(' ').slice(1), { cwd: root, env })
      return readdirSync(folder).map((each) => readdirSync(join(folder, each)).length)
    }
    const [compiled] = run(made!)
    expect(compiled).toBeGreaterThan(3000)
    for (const server of [manifest.scripts.start, manifest.scripts.worker]) {
      const [there, ...others] = run(`${server} --help`)
      // The entry module of the program itself.
      expect(there).toBeLessThan(compiled! + 10)
      expect(others).toEqual([])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('every setting is listed in docs/deploying.md', () => {
  const named = [
    ...[...compose.matchAll(/^ {4,6}([A-Z][A-Z_]+):/gm)].map(([, name]) => name!),
    ...dockerfile
      .match(/^ENV (.+)$/m)![1]!
      .split(' ')
      .map((pair) => pair.split('=')[0]!),
  ].filter((name) => !name.startsWith('POSTGRES_'))
  expect(named).toEqual(expect.arrayContaining(['DATABASE_URL', 'SECRET_KEY', 'WORKER', 'DATA_DIR']))
  const documented = read('docs/deploying.md')
  for (const name of named) expect([name, documented.includes(name)]).toEqual([name, true])
})
