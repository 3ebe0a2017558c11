/** Where tests stand: below the section and the room of what they test, each operation called by its own file. */
import { existsSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './imports.ts'

const called = /(?:^|\n)import (?!type )[^'"]*?from\s*['"]#(operations\/[^'"]+\/api\/[^'"]+)['"]/g
const contracts: readonly string[] = ['api', 'jobs', 'pages']
const suffix = '.test.ts'

/** The faults of every operation and of every file below test/operations/ of a project's root. */
export async function testFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  /** Operations by what their own section's tests import. */
  const tested = new Set<string>()
  for (const path of await filesBelow(root, 'test/operations')) {
    const parts = path.split('/').slice(2)
    const [section, room, ...deeper] = parts.slice(0, -1)
    if (section === undefined) continue
    const note = (wrong: string, remedy: string): void => void faults.push({ file: path, wrong, remedy })
    if (!existsSync(join(root, 'operations', section))) {
      note(`stands below ${section}/, which is no section`, 'move it to the section of what it tests')
    } else if (room !== undefined && (deeper.length > 0 || !isRoom(root, section, room))) {
      const folder = [room, ...deeper].join('/')
      const rooms = `a folder of operations/${section}/ that is no ${contracts.join(', ')}`
      note(`stands below ${folder}/, which is no room of ${section}`, `move it to ${rooms}, or to its root`)
    }
    if (!path.endsWith(suffix)) continue
    const name = parts.at(-1)!.slice(0, -suffix.length)
    const folder = room ?? section
    if (repeats(name, folder)) note(`says ${folder} twice`, 'name it by what is tested of it')
    for (const [, target] of readFileSync(join(root, path), 'utf8').matchAll(called)) {
      if (target!.startsWith(`operations/${section}/`)) tested.add(`${target}.ts`)
    }
  }
  for (const file of await filesBelow(root, 'operations')) {
    const [, section, ...rest] = file.split('/')
    if (rest.at(-2) !== 'api' || tested.has(file)) continue
    faults.push({
      file,
      wrong: 'is called by no test of its section',
      remedy: `import it in a test below test/operations/${section}/, and say by shop.call(…) what it does`,
    })
  }
  return faults
}

const isRoom = (root: string, section: string, room: string): boolean =>
  !contracts.includes(room) && existsSync(join(root, 'operations', section, room))

const singular = (word: string): string => word.replace(/s$/, '')
const repeats = (name: string, folder: string): boolean =>
  singular(name) === singular(folder) ||
  [folder, singular(folder)].some((each) => name.startsWith(`${each}-`))

async function filesBelow(root: string, folder: string): Promise<string[]> {
  const paths = await typescriptFiles(join(root, folder))
  return paths.map((path) => relative(root, path).split(sep).join('/'))
}
