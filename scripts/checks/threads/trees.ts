/** A thread of its own: half of the rules that files are read for, with what was read the last time. */
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { registerHooks } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { Fault } from '#runtime/registry/checks'
import type { Readings } from '../parse.ts'

const { root, half } = workerData as { root: string; half: 0 | 1 }
const kept = join(root, `node_modules/.cache/read-${half}.json`)

interface Kept {
  /** Of the rules, and of all that they import. */
  rules: string
  readings: Readings
}

const modules = new Set<string>()
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) modules.add(fileURLToPath(url))
    return next(url, context)
  },
})
// After it, so that the compiler is among them.
const { remember, sumOf } = await import('../parse.ts')
const { halves } = await import('./halves.ts')
const rules = sumOf((await Promise.all([...modules].map(stampOf))).sort().join('\n'))

const before = await lastTime()
const readings = remember(before?.rules === rules ? (before.readings ?? {}) : {})
const faults: Fault[][] = await Promise.all(halves[half].map((faultsOf) => faultsOf(root)))
await keep({ rules, readings })
parentPort!.postMessage(faults.flat())

/** Ours by what they say; of packages, which are large, when they were written. Wherever the project lies. */
async function stampOf(path: string): Promise<string> {
  const [, inPackages] = path.split('/node_modules/')
  if (inPackages === undefined) return `${relative(root, path)} ${sumOf(await readFile(path, 'utf8'))}`
  const { size, mtimeMs } = await stat(path)
  return `${inPackages} ${size} ${mtimeMs}`
}

async function lastTime(): Promise<Kept | null> {
  try {
    return JSON.parse(await readFile(kept, 'utf8')) as Kept
  } catch {
    return null // the first time
  }
}

/** Whole or not at all: two checks may run. */
async function keep(all: Kept): Promise<void> {
  const unfinished = `${kept}.${process.pid}`
  await mkdir(dirname(kept), { recursive: true })
  await writeFile(unfinished, JSON.stringify(all))
  await rename(unfinished, kept)
}
