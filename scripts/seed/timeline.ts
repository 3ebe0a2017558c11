/** Instants of the demo, relative to the moment it was first seeded. */

import { DateTime, IANAZone } from 'luxon'
import { dayMs, minuteMs } from '#runtime/durations'

/** Caches zone offsets: looking them up would take most of the planning time. Offsets change only at quarter hours. */
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

  /** `days` times 24 hours before now, fractions allowed. */
  ago(days: number): Date {
    return new Date(this.now.getTime() - days * dayMs)
  }

  /** The instant, or now if it is in the future. */
  notAfterNow(at: Date): Date {
    return at > this.now ? this.now : at
  }

  /** The first instant of a local day, that many days before today. */
  startOfDay(daysBack: number): Date {
    return this.#local(this.now).startOf('day').minus({ days: daysBack }).toJSDate()
  }

  /** A local hour (0 to 24, fractions allowed) of a day that many days before today, or after it if negative. */
  localTime(daysBack: number, hour: number): Date {
    const start = this.#local(this.now).startOf('day').minus({ days: daysBack })
    return start.set({ hour: Math.floor(hour), minute: Math.round((hour % 1) * 60) }).toJSDate()
  }

  /** The local hour of an instant, from 0 up to 24, with the minutes as a fraction. */
  localHour(at: Date): number {
    const local = this.#local(at)
    return local.hour + local.minute / 60
  }

  /** The local day of an instant, such as `2026-11-20`. */
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
