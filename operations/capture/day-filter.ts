/** Filters by day of a list that is newest first. */
import type { days } from '#operations/store/door'

export interface Days {
  startDate?: string | undefined
  endDate?: string | undefined
}

/** As `isWithin` takes it: a side that was left out is open. */
export const openRange = ({ startDate, endDate }: Days): days.DayRange => ({
  startDate: startDate ?? '0001-01-02',
  endDate: endDate ?? '9999-12-30',
})
