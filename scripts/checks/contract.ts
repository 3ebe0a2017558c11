/** Reports changes that break callers of the last release, unless `accepted.ts` lists them with a reason. */
import { buildOpenApi } from '#runtime/documents/openapi'
import type { Issue } from '#runtime/registry/checks'
import type { Registry } from '#runtime/registry/loaded'
import { accepted } from '#scripts/contract/accepted'
import { compareContracts } from '#scripts/contract/changes'
import { type Contract, toContract } from '#scripts/contract/contract'
import { readReleased } from '#scripts/contract/released'

const list = 'scripts/contract/accepted.ts'

export const findContractIssues = async (registry: Registry): Promise<Issue[]> =>
  toIssues(await readReleased(), toContract(buildOpenApi(registry)), accepted)

export function toIssues(
  released: Contract,
  now: Contract,
  reasons: Readonly<Record<string, string>>,
): Issue[] {
  const { breaking } = compareContracts(released, now)
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
