/** Reads the project's files for the checks. */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** The TypeScript files below a folder of the project, by their paths from the root. */
export const typescriptFiles = (root: string, folder: string): Promise<string[]> =>
  codeFiles(root, folder, /\.ts$/)

/** The files below a folder of the project whose names match, by their paths from the root. */
export async function codeFiles(root: string, folder: string, names = /\.(?:ts|js)$/): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

export const readCode = (root: string, file: string): string => readFileSync(join(root, file), 'utf8')
