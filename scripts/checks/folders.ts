/** A folder of more files than fit on a screen is not looked over before the next one is added. */
import { dirname } from 'node:path'
import type { Fault } from '#runtime/registry/checks'
import { typescriptFiles } from './files.ts'

const mostInModule = 20
const mostInSection = 10
const contracts = /^operations\/.+\/(?:api|jobs|pages)$/
const ofTheRegistry = /^operations\/[^/]+\/(?:section|points|wiring|environment|door)\.ts$/

export async function folderFaults(root: string): Promise<Fault[]> {
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
