/** Names, addresses and phones of fictional people. */
import people from './data/people.json' with { type: 'json' }
import type { Random } from './random.ts'

export interface Person {
  name: string
  email: string
  /** E.164. */
  phone: string
}

const chooseName = ({ given, family }: Record<'given' | 'family', string[]>, random: Random): string =>
  `${random.pick(given)} ${random.pick(family)}`

/** A Brazilian with a mobile phone that ends in `number` (four digits, none that the sandbox treats specially). */
export function brazilian(random: Random, number: number): Person {
  const name = chooseName(people.brazilian, random)
  return {
    name,
    email: `${toAscii(name)}.${number}@example.com`,
    phone: `+55${random.pick(people.areaCodes)}9${random.whole(6000, 9999)}${number}`,
  }
}

const places: Record<string, string[]> = people.places

/** The shipping address of the person with this phone. */
export function buildAddress({ name, phone }: Person, country: string): Record<string, string> {
  const [city, state, area, street] = places[phone.slice(0, 5)]!
  const number = phone.slice(-4)
  const postalCode = country === 'BR' ? `${area}-${phone.slice(-3)}` : area
  return {
    recipient: name,
    street: street!,
    number,
    city: city!,
    state: state!,
    postalCode: postalCode!,
    country,
    phone,
  }
}

export function american(random: Random, number: number): Person {
  const name = chooseName(people.american, random)
  return {
    name,
    email: `${toAscii(name)}.${number}@example.com`,
    phone: `+1917${random.whole(300, 799)}${number}`,
  }
}

const toAscii = (name: string): string =>
  name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll(' ', '.')
