/** Where a local day begins is asked in one place of each language: a midnight may come twice, or never. */
import type { Fault } from '#runtime/registry/checks'
import { calledOf, type Exception, faultsOf, isText } from '../source.ts'

const [place, sqlPlace] = ['runtime/values/wall-clock.ts', 'runtime/database/days.ts']
const wrong = "finds a day's edge by Luxon's days"
const ofLuxon = ['startOf', 'endOf', 'hasSame']
const wrongInSql = "takes a day's midnight for its beginning"

const others: readonly Exception[] = [
  {
    file: 'operations/store/sums/rebuild-days.ts',
    wrong: wrongInSql,
    why: 'its bounds are three hours wider, and each row is asked for its date',
  },
]

export const dayEdgeFaults = (root: string, exceptions = others): Promise<Fault[]> =>
  faultsOf(root, {
    layers: ['runtime', 'operations'],
    suspicious: /startOf\(|endOf\(|hasSame\(|timestamp at time zone/,
    leaves: (file) => file === sqlPlace,
    exceptions,
    listedIn: 'scripts/checks/values/day-edges.ts',
    wrongOf(node) {
      if (ofLuxon.includes(calledOf(node) ?? '')) {
        return [{ wrong, remedy: `take firstInstantOn or instantsOf of ${place}` }]
      }
      if (!isText(node) || !node.text.includes('::timestamp at time zone')) return []
      return [{ wrong: wrongInSql, remedy: `take firstInstantOf, isWithin or isWithinDays of ${sqlPlace}` }]
    },
  })
