/** Checks that a folder has few enough files for its listing to fit on a screen. */
import { dirname } from 'node:path'
import type { Issue } from '#runtime/registry/checks'
import { typescriptFiles } from './files.ts'

const mostInModule = 20
const mostInSection = 10
const contracts = /^operations\/.+\/(?:api|jobs|pages)$/
const ofTheRegistry = /^operations\/[^/]+\/(?:section|extension-points|extensions|environment|index)\.ts$/

export async function findFolderIssues(root: string): Promise<Issue[]> {
  const files = [...(await typescriptFiles(root, 'runtime')), ...(await typescriptFiles(root, 'operations'))]
  const logic = files.filter((file) => !ofTheRegistry.test(file)).map((file) => dirname(file))
  const folders = Map.groupBy(logic, (folder) => folder)
  return [...folders].flatMap(([folder, { length }]) => {
    const most = /^operations\/[^/]+$/.test(folder) ? mostInSection : mostInModule
    if (length <= most || contracts.test(folder)) return []
    return {
      file: folder,
      wrong: `has ${length} files of logic, and at most ${most} are looked over`,
      remedy: 'make a module of the files that are about one thing',
    }
  })
}
