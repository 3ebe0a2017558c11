/** What the demo's reviewers wrote. */
import type { Random } from './random.ts'

export const writers = [
  'Alice Barros',
  'Bernardo Lopes',
  'Camila Rocha',
  'Davi Nunes',
  'Elisa Torres',
  'Fábio Antunes',
  'Giovana Melo',
  'Heitor Campos',
  'Isadora Pinto',
  'João Vieira',
  'Karina Dias',
  'Lucas Farias',
  'Mirela Castro',
  'Nicolas Braga',
]

type Text = [title: string | null, text: string | null]

const texts: Record<number, Text[]> = {
  5: [
    ['Perfeito', 'Superou o que eu esperava, acabamento impecável.'],
    [null, 'Lindo e muito bem feito. Recomendo!'],
    ['Amei', 'Chegou rápido e é igual à foto.'],
    [null, null],
    ['Vale cada centavo', 'Uso todos os dias desde que chegou.'],
  ],
  4: [
    ['Muito bom', 'Só a cor é um pouco mais escura do que na foto.'],
    [null, 'Bom produto, entrega no prazo.'],
    ['Gostei', null],
  ],
  3: [
    ['Razoável', 'Cumpre o que promete, mas esperava mais pelo preço.'],
    [null, 'É menor do que parece na foto.'],
  ],
  2: [
    ['Deixa a desejar', 'Veio com um pequeno risco.'],
    [null, 'O tecido é mais fino do que eu pensava.'],
  ],
  1: [
    ['Decepcionada', 'Quebrou na primeira semana.'],
    [null, 'Não era o que eu tinha pedido.'],
  ],
}

export function textOf(rating: number, random: Random): { title: string | null; text: string | null } {
  const [title, text] = random.pick(texts[rating]!)
  return { title, text }
}

const counts: [rating: number, count: number][] = [
  [1, 8],
  [2, 10],
  [3, 20],
  [4, 46],
  [5, 96],
]

/** 180 ratings; `isLow`: who must have three stars or fewer. */
export function ratingsFor(isLow: readonly unknown[], random: Random): number[] {
  const all = counts.flatMap(([rating, count]) => Array<number>(count).fill(rating))
  const lows = random.shuffled(all.filter((rating) => rating <= 3))
  const needed = isLow.filter(Boolean).length
  const given = lows.splice(0, needed)
  const rest = random.shuffled([...lows, ...all.filter((rating) => rating > 3)])
  return isLow.map((low) => (low ? given.pop()! : rest.pop()!))
}
