/** Trees of files that a check looks through: inside the project, so that their imports resolve. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from '#runtime/registry/checks'
import { whenFileEnds } from '#test/support/closing'

const root = join(import.meta.dirname, '../..')

function folder(): string {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const path = mkdtempSync(join(root, '.tmp/registry-'))
  whenFileEnds(async () => rmSync(path, { recursive: true, force: true }))
  return path
}

function write(path: string, files: Record<string, string | null>): void {
  for (const [file, text] of Object.entries(files)) {
    if (text === null) continue
    mkdirSync(join(path, file, '..'), { recursive: true })
    writeFileSync(join(path, file), text)
  }
}

/** What a check says of a project of these files; of layers without any there is the folder. */
export async function faultLines(
  check: (root: string) => Promise<readonly Fault[]>,
  files: Record<string, string | null>,
): Promise<string[]> {
  const path = folder()
  for (const layer of ['db', 'runtime', 'operations', 'scripts', 'test/operations'])
    mkdirSync(join(path, layer), { recursive: true })
  write(path, files)
  return (await check(path)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
}

export const sectionFile = `import { section } from '#runtime/section'
export default section({ title: 'Things', description: 'Things.', position: 1, order: [] })
`

/** The folder of operations of a project that has one section and these files. */
export function tree(files: Record<string, string>): string {
  const path = join(folder(), 'operations')
  write(path, { 'things/section.ts': sectionFile, ...files })
  return path
}
