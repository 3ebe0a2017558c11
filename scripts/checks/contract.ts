/** What breaks callers of the last release: refused unless it is listed with its reason. */
import { openApiDocument } from '#runtime/documents/openapi'
import type { Fault } from '#runtime/registry/checks'
import type { Registry } from '#runtime/registry/loaded'
import { accepted } from '#scripts/contract/accepted'
import { changesOf } from '#scripts/contract/changes'
import { type Contract, contractOf } from '#scripts/contract/contract'
import { readReleased } from '#scripts/contract/released'

const list = 'scripts/contract/accepted.ts'

export const contractFaults = async (registry: Registry): Promise<Fault[]> =>
  faultsOf(await readReleased(), contractOf(openApiDocument(registry)), accepted)

export function faultsOf(
  released: Contract,
  now: Contract,
  reasons: Readonly<Record<string, string>>,
): Fault[] {
  const { breaking } = changesOf(released, now)
  const unlisted = breaking.filter((change) => !reasons[change]?.trim())
  const outlived = Object.keys(reasons).filter((change) => !breaking.includes(change))
  return [
    ...unlisted.map((change) => ({
      file: 'openapi.json',
      wrong: `breaks callers of the last release: ${change}`,
      remedy: `keep what was there, or write it into ${list} with the reason`,
    })),
    ...outlived.map((change) => ({
      file: list,
      wrong: `nothing breaks so: ${change}`,
      remedy: 'take the line out',
    })),
  ]
}
