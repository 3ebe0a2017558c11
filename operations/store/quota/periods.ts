/** Billing periods and message cycles: computed from the anchor in UTC, with the day capped at the month's last. */

/** The instant `months` after the anchor: 31 Jan + 1 = 28 Feb, + 2 = 31 Mar, at the same time of day. */
export function addPeriod(anchor: Date, months: number): Date {
  const year = anchor.getUTCFullYear()
  const month = anchor.getUTCMonth() + months
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const day = Math.min(anchor.getUTCDate(), lastDay)
  const time = anchor.getTime() - Date.UTC(year, anchor.getUTCMonth(), anchor.getUTCDate())
  return new Date(Date.UTC(year, month, day) + time)
}

/** The month-long period from the anchor that contains `now`; before the anchor, the first one. */
export function periodAt(anchor: Date, now: Date): { start: Date; end: Date } {
  const elapsed =
    (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth()
  let months = Math.max(0, elapsed)
  if (months > 0 && addPeriod(anchor, months) > now) months -= 1
  return { start: addPeriod(anchor, months), end: addPeriod(anchor, months + 1) }
}
