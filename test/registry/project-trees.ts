/** Temporary file trees for checks, inside the project so that imports resolve. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Issue } from '#runtime/registry/checks'
import { whenFileEnds } from '#test/support/closing'

const root = join(import.meta.dirname, '../..')

function createFolder(): string {
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

/** Issues that a check finds in a project with these files; layers without files exist as empty folders. */
export async function listIssueLines(
  check: (root: string) => Promise<readonly Issue[]>,
  files: Record<string, string | null>,
): Promise<string[]> {
  const path = createFolder()
  for (const layer of ['db', 'runtime', 'operations', 'scripts', 'test/operations'])
    mkdirSync(join(path, layer), { recursive: true })
  write(path, files)
  return (await check(path)).map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)
}

export const sectionFile = `import { section } from '#runtime/section'
export default section({ title: 'Things', description: 'Things.', position: 1, order: [] })
`

/** Operations folder of a project with one section and these files. */
export function createProject(files: Record<string, string>): string {
  const path = join(createFolder(), 'operations')
  write(path, { 'things/section.ts': sectionFile, ...files })
  return path
}
