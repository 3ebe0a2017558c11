/** How rooms are kept: contracts where the registry finds them, few files beside each other, none too long. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Fault } from '#runtime/registry/checks'
import { filesEnding, typescriptFiles } from './imports.ts'

const mostInRoom = 20
const mostAtRoot = 10
const mostLines = 400

const folders: Readonly<Record<string, string>> = {
  operation: 'api',
  job: 'jobs',
  serverJob: 'jobs',
  page: 'pages',
  storefrontPage: 'pages',
}
const declaration = new RegExp(
  `^(?:export )?(?:default |const \\w+ = )?(${Object.keys(folders).join('|')})\\(`,
  'm',
)
const meaningless = /^(?:lib|libs|utils?|helpers?|common|misc)$/
const ofTheSection = ['section.ts', 'points.ts', 'wiring.ts', 'environment.ts', 'door.ts']

/** The faults of a project's root. */
export async function roomFaults(root: string): Promise<Fault[]> {
  const faults: Fault[] = []
  const rooms = new Map<string, number>()
  for (const path of await codeOf(root, ['operations', 'runtime', 'db', 'scripts'])) {
    const file = relative(root, path).split(sep).join('/')
    const lines = readFileSync(path, 'utf8').split('\n').length - 1
    if (lines > mostLines) {
      const wrong = `has ${lines} lines, and at most ${mostLines} are read`
      faults.push({ file, wrong, remedy: 'cut it by what it is about' })
    }
    const vague = file.split('/').find((part) => meaningless.test(part.replace(/\.[jt]s$/, '')))
    if (vague) {
      const wrong = `is named ${vague.replace(/\.[jt]s$/, '')}, which says nothing`
      faults.push({ file, wrong, remedy: 'name it by what it is about' })
    }
    if (file.startsWith('runtime/') && file.endsWith('.ts'))
      rooms.set(dirname(file), (rooms.get(dirname(file)) ?? 0) + 1)
  }
  for (const path of await typescriptFiles(join(root, 'operations'))) {
    const file = relative(root, path).split(sep).join('/')
    const parts = file.split('/')
    const [name, folder] = [basename(file, '.ts'), parts.at(-2)!]
    const note = (wrong: string, remedy: string): void => void faults.push({ file, wrong, remedy })
    const code = readFileSync(path, 'utf8')
    if (Object.values(folders).includes(folder)) continue
    const kind = declaration.exec(code)?.[1]
    // Who makes pages of a kind declares none itself.
    if (kind) note(`declares a ${kind} that nothing finds here`, `move it to ${folders[kind]}/ of its room`)
    if (parts.length === 3 && ofTheSection.includes(parts[2]!)) continue
    if (name.startsWith(`${folder}-`)) {
      note(`says ${folder} twice`, `name it ${name.slice(folder.length + 1)}.ts`)
    }
    const room = parts.slice(0, -1).join('/')
    rooms.set(room, (rooms.get(room) ?? 0) + 1)
  }
  for (const [room, count] of rooms) {
    const most = /^operations\/[^/]+$/.test(room) ? mostAtRoot : mostInRoom
    if (count > most) {
      faults.push({
        file: room,
        wrong: `has ${count} files of logic, and at most ${most} are looked over`,
        remedy: 'make a room of its own of the files that are about one thing',
      })
    }
  }
  return faults
}

/** What runs in a browser is read by people, too. */
const codeOf = async (root: string, layers: readonly string[]): Promise<string[]> => {
  const there = layers.map((layer) => join(root, layer)).filter(existsSync)
  return (await Promise.all(there.map((layer) => filesEnding(layer, /\.[jt]s$/)))).flat()
}
