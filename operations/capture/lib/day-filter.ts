/** Filters by day of a list that is newest first. */
import type { days } from '#operations/store/lib/door'
import { refuse } from '#runtime/errors'

export interface Days {
  startDate?: string | undefined
  endDate?: string | undefined
}

/** Refuses a start after its end. */
export function refuseCrossed({ startDate, endDate }: Days): void {
  if (startDate && endDate && startDate > endDate) {
    throw refuse('bad_request', 'startDate: must not be after endDate')
  }
}

/** As `isWithin` takes it: a side that was left out is open. */
export const openRange = ({ startDate, endDate }: Days): days.DayRange => ({
  startDate: startDate ?? '0001-01-02',
  endDate: endDate ?? '9999-12-30',
})
