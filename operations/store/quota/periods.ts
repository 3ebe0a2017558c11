/** Computes billing periods and message cycles from an anchor, in UTC. The day is capped at the last day of the month. */

/** The instant `months` after the anchor, at the same time of day. 31 January + 1 is 28 February, + 2 is 31 March. */
export function addPeriod(anchor: Date, months: number): Date {
  const year = anchor.getUTCFullYear()
  const month = anchor.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const day = Math.min(anchor.getUTCDate(), lastDay)
  const time = anchor.getTime() - Date.UTC(year, anchor.getUTCMonth(), anchor.getUTCDate())
  return new Date(Date.UTC(year, month, day) + time)
}

/** The month-long period, counted from the anchor, that contains `now`; the first period if `now` is before the anchor. */
export function periodAt(anchor: Date, now: Date): { start: Date; end: Date } {
  const elapsed =
    (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth()
  let months = Math.max(0, elapsed)
  if (months > 0 && addPeriod(anchor, months) > now) months -= 1
  return { start: addPeriod(anchor, months), end: addPeriod(anchor, months + 1) }
}
