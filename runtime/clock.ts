/** The one clock. Tests and the sandbox move it; nothing that decides reads the machine's own. */
export interface Clock {
  now(): Date
  /** Milliseconds since 1970, without making a Date. */
  ms(): number
}

export interface MovableClock extends Clock {
  /** Milliseconds ahead of the machine. */
  offset: number
  /** Stands still at this instant until set again; null lets it run. */
  frozenAt: number | null
}

export function machineClock(offset = 0): MovableClock {
  return {
    offset,
    frozenAt: null,
    ms() {
      return this.frozenAt ?? Date.now() + this.offset
    },
    now() {
      return new Date(this.ms())
    },
  }
}
