/** Lint and format. The rules look at one file at a time: one that was in order, and is as it was, is in order. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Result, run, tool } from './tool.ts'

const name = 'lint and format'
const biome = 'node_modules/@biomejs/biome'
const kept = 'node_modules/.cache/lint.json'
/** More than these are no faster by name. */
const namedAtMost = 500

interface InOrder {
  /** Of the linter and its settings. */
  settings: string
  /** Each file's contents, by its path. */
  files: Record<string, string>
}

/** Of all files, where nobody can say which there are. */
export async function lint(root: string): Promise<Result> {
  const there = await filesOf(root)
  if (!there) return check(root, ['.'])
  const settings = sum(
    await readFile(join(root, biome, 'package.json')),
    ...Object.keys(there)
      .filter((path) => path === 'biome.json' || path.endsWith('.grit'))
      .map((path) => there[path]!),
  )
  const before = await lastInOrder(root)
  const isSame = before?.settings === settings
  const changed = Object.keys(there).filter((path) => !isSame || before.files[path] !== there[path])
  if (changed.length === 0) return { name, ok: true, output: '' }
  const result = await check(root, changed.length > namedAtMost ? ['.'] : changed)
  if (result.ok) {
    await mkdir(dirname(join(root, kept)), { recursive: true })
    await writeFile(join(root, kept), JSON.stringify({ settings, files: there } satisfies InOrder))
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

/** Null where there is no git, or no repository. */
async function filesOf(root: string): Promise<Record<string, string> | null> {
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
        (bytes) => [[path, sum(bytes)] as const],
        () => [], // deleted, and still listed
      ),
    ),
  )
  return Object.fromEntries(sums.flat())
}

async function lastInOrder(root: string): Promise<InOrder | null> {
  try {
    return JSON.parse(await readFile(join(root, kept), 'utf8')) as InOrder
  } catch {
    return null // the first time
  }
}

function sum(...contents: (Buffer | string)[]): string {
  const hash = createHash('sha256')
  for (const each of contents) hash.update(each)
  return hash.digest('base64')
}
