/** Instants of the demo, counted back from the moment it was first seeded. */

import { DateTime, IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'

/** Asking the calendar of a zone costs more than all else of a plan; clocks change at quarters of an hour, if they do. */
class RememberedZone extends IANAZone {
  readonly #offsets = new Map<number, number>()

  override offset(ms: number): number {
    const quarter = Math.floor(ms / (15 * minuteMs))
    const known = this.#offsets.get(quarter)
    if (known !== undefined) return known
    const offset = super.offset(ms)
    this.#offsets.set(quarter, offset)
    return offset
  }
}

export class Timeline {
  readonly now: Date
  readonly zone: string
  readonly #calendar: RememberedZone

  constructor(now: Date, zone: string) {
    this.now = now
    this.zone = zone
    this.#calendar = new RememberedZone(zone)
  }

  /** `days` times 24 hours before now; a fraction is a part of a day. */
  ago(days: number): Date {
    return new Date(this.now.getTime() - days * dayMs)
  }

  /** The same instant, or now where that is still to come. */
  notAfterNow(at: Date): Date {
    return at > this.now ? this.now : at
  }

  /** The first instant of the local day that many days before today. */
  startOfDay(daysBack: number): Date {
    return this.#local(this.now).startOf('day').minus({ days: daysBack }).toJSDate()
  }

  /** A local hour (0 to 24, fractions allowed) of the day so many days before today, or after it when negative. */
  localTime(daysBack: number, hour: number): Date {
    const start = this.#local(this.now).startOf('day').minus({ days: daysBack })
    return start.set({ hour: Math.floor(hour), minute: Math.round((hour % 1) * 60) }).toJSDate()
  }

  /** From 0 up to 24. */
  localHour(at: Date): number {
    const local = this.#local(at)
    return local.hour + local.minute / 60
  }

  /** As `2026-11-20`. */
  localDay(at: Date): string {
    return this.#local(at).toISODate()!
  }

  isWeekend(at: Date): boolean {
    return this.#local(at).weekday > 5
  }

  #local(at: Date): DateTime {
    return DateTime.fromJSDate(at, { zone: this.#calendar })
  }
}
