/** Eight digits after the area code and the nine of a Brazilian mobile; those below are the seed's. */
let lastPhone = 10_000_000

export const phoneAt = (index: number): string => `+55119${String(index).padStart(8, '0')}`
/** A valid Brazilian mobile that no other request has. */
export function unusedPhone(): string {
  lastPhone += 1
  return phoneAt(lastPhone)
}
