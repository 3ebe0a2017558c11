/** The rules that files are read for, in two halves that take about as long. */

import { clockFaults } from '../clocks.ts'
import { sameBodyFaults } from '../copies.ts'
import { domainFaults } from '../domains.ts'
import { identityFaults } from '../identity.ts'
import { importFaults } from '../imports.ts'
import { loopFaults } from '../loops.ts'
import { noticeFaults } from '../notices.ts'
import { nullFaults } from '../nulls.ts'
import { roomFaults } from '../rooms.ts'
import { rowFaults } from '../rows.ts'
import { ruleFaults } from '../rules.ts'
import { stateFaults } from '../state.ts'
import { tableFaults } from '../tables.ts'
import { testFaults } from '../tests.ts'
import { amountFaults } from '../values/amounts.ts'
import { dayEdgeFaults } from '../values/day-edges.ts'
import { formatFaults } from '../values/formats.ts'
import { patternFaults } from '../values/patterns.ts'

export const halves = [
  [clockFaults, domainFaults, ruleFaults, sameBodyFaults, roomFaults, testFaults],
  [
    importFaults,
    identityFaults,
    loopFaults,
    nullFaults,
    amountFaults,
    formatFaults,
    dayEdgeFaults,
    noticeFaults,
    patternFaults,
    rowFaults,
    tableFaults,
    stateFaults,
  ],
] as const
