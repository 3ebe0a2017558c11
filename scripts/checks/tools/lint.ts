/** Lints and checks the format. Each rule looks at one file, so unchanged files that passed before are skipped. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Result, run, tool } from './tool.ts'

const name = 'lint and format'
const biome = 'node_modules/@biomejs/biome'
const cacheFile = 'node_modules/.cache/lint.json'
/** If more files than this have changed, checking everything is as fast as naming them. */
const namedAtMost = 500

interface LintCache {
  /** Hash of the linter and its settings. */
  settings: string
  /** Hash of each file's contents, by path. */
  files: Record<string, string>
}

/** Checks the changed files, or all files if it is unknown which have changed. */
export async function lint(root: string): Promise<Result> {
  const there = await hashFiles(root)
  if (!there) return check(root, ['.'])
  const settings = hashAll(
    await readFile(join(root, biome, 'package.json')),
    ...Object.keys(there)
      .filter((path) => path === 'biome.json' || path.endsWith('.grit'))
      .map((path) => there[path]!),
  )
  const before = await readCache(root)
  const isSame = before?.settings === settings
  const changed = Object.keys(there).filter((path) => !isSame || before.files[path] !== there[path])
  if (changed.length === 0) return { name, ok: true, output: '' }
  const result = await check(root, changed.length > namedAtMost ? ['.'] : changed)
  if (result.ok) {
    await mkdir(dirname(join(root, cacheFile)), { recursive: true })
    await writeFile(join(root, cacheFile), JSON.stringify({ settings, files: there } satisfies LintCache))
  }
  return result
}

const check = (root: string, paths: string[]): Promise<Result> =>
  tool(root, name, join(root, biome, 'bin/biome'), [
    ...[
      'check',
      '--colors=off',
      '--no-errors-on-unmatched',
      '--files-ignore-unknown=true',
      '--error-on-warnings',
    ],
    ...paths,
  ])

/** Hashes the project's files; null without git or a repository. */
async function hashFiles(root: string): Promise<Record<string, string> | null> {
  const { ok, output } = await run(root, 'git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ])
  if (!ok) return null
  const paths = output.split('\0').filter(Boolean)
  const sums = await Promise.all(
    paths.map((path) =>
      readFile(join(root, path)).then(
        (bytes) => [[path, hashAll(bytes)] as const],
        () => [], // deleted, but still in the index
      ),
    ),
  )
  return Object.fromEntries(sums.flat())
}

async function readCache(root: string): Promise<LintCache | null> {
  try {
    return JSON.parse(await readFile(join(root, cacheFile), 'utf8')) as LintCache
  } catch {
    return null // the first run
  }
}

function hashAll(...contents: (Buffer | string)[]): string {
  const hash = createHash('sha256')
  for (const each of contents) hash.update(each)
  return hash.digest('base64')
}
