/** Things that the demo's shops sell, as a few shapes on a field of 100 by 100, each in a tone of the picture's palette. */

export type Tone = 'main' | 'dark' | 'light' | 'accent' | 'white'

export type Form =
  | readonly ['box', x: number, y: number, width: number, height: number, radius: number]
  | readonly ['oval', x: number, y: number, radiusX: number, radiusY: number]
  | readonly ['ring', x: number, y: number, radiusX: number, radiusY: number, thickness: number]
  | readonly ['line', x1: number, y1: number, x2: number, y2: number, thickness: number]
  | readonly ['area', ...points: number[]]

export interface Shape {
  form: Form
  tone: Tone
}

const of = (tone: Tone, ...form: Form): Shape => ({ form, tone })

const label = of('white', 'box', 40, 52, 20, 14, 2)
const shirt = [
  of('main', 'area', 34, 24, 66, 24, 90, 42, 80, 56, 70, 49, 70, 84, 30, 84, 30, 49, 20, 56, 10, 42),
  of('dark', 'oval', 50, 24, 10, 5),
]
const book = [
  of('main', 'box', 28, 18, 46, 64, 3),
  of('dark', 'box', 28, 18, 8, 64, 3),
  of('white', 'box', 44, 30, 22, 12, 1),
]
const flask = [of('dark', 'box', 42, 14, 16, 12, 3), of('main', 'box', 36, 24, 28, 62, 9)]
const pencil = (x: number, tone: Tone): Shape[] => [
  of(tone, 'box', x, 34, 7, 48, 1),
  of('white', 'area', x, 34, x + 7, 34, x + 3.5, 20),
  of('dark', 'area', x + 2.3, 25, x + 4.7, 25, x + 3.5, 20),
]

export const motifs = {
  mug: [
    of('dark', 'ring', 68, 52, 13, 15, 6),
    of('main', 'box', 26, 30, 40, 50, 7),
    of('light', 'box', 26, 30, 40, 7, 3),
    of('accent', 'oval', 46, 58, 9, 9),
  ],
  bottle: [...flask, label],
  canteen: [...flask, of('light', 'ring', 50, 12, 9, 7, 3), of('accent', 'box', 36, 44, 28, 6, 0)],
  knives: [
    of('light', 'area', 30, 20, 38, 20, 38, 58, 30, 58),
    of('dark', 'box', 30, 58, 8, 26, 3),
    of('light', 'area', 46, 14, 56, 24, 56, 58, 46, 58),
    of('dark', 'box', 46, 58, 10, 28, 3),
    of('light', 'area', 64, 30, 70, 34, 70, 58, 64, 58),
    of('dark', 'box', 64, 58, 6, 22, 3),
  ],
  pan: [
    of('dark', 'line', 62, 42, 90, 20, 8),
    of('main', 'oval', 42, 56, 30, 28),
    of('dark', 'oval', 42, 56, 24, 22),
    of('accent', 'oval', 40, 57, 9, 7),
  ],
  board: [
    of('main', 'box', 30, 26, 40, 58, 7),
    of('main', 'box', 43, 12, 14, 20, 6),
    of('light', 'oval', 50, 19, 3, 3),
    of('dark', 'line', 38, 42, 38, 74, 1),
    of('dark', 'line', 52, 38, 52, 78, 1),
    of('dark', 'line', 62, 46, 62, 70, 1),
  ],
  grinder: [
    of('dark', 'line', 50, 18, 76, 18, 4),
    of('accent', 'oval', 77, 18, 5, 5),
    of('dark', 'line', 50, 18, 50, 32, 4),
    of('light', 'area', 34, 32, 66, 32, 60, 48, 40, 48),
    of('main', 'box', 32, 48, 36, 34, 3),
    of('dark', 'box', 40, 64, 20, 12, 1),
    of('accent', 'oval', 50, 70, 2.5, 2.5),
  ],
  coffee: [
    of('main', 'area', 30, 24, 70, 24, 74, 84, 26, 84),
    of('dark', 'box', 28, 16, 44, 10, 2),
    of('white', 'oval', 50, 56, 14, 14),
    of('dark', 'oval', 50, 56, 6, 9),
    of('white', 'line', 50, 48, 50, 64, 1.5),
  ],
  apron: [
    of('dark', 'ring', 50, 22, 10, 12, 3),
    of('main', 'area', 38, 26, 62, 26, 66, 44, 76, 48, 76, 86, 24, 86, 24, 48, 34, 44),
    of('light', 'box', 38, 58, 24, 16, 2),
  ],
  candle: [
    of('accent', 'oval', 50, 22, 4, 8),
    of('dark', 'line', 50, 28, 50, 38, 1.5),
    of('light', 'box', 34, 36, 32, 46, 4),
    of('main', 'box', 34, 48, 32, 34, 4),
    of('white', 'box', 41, 56, 18, 14, 1),
  ],
  blanket: [
    of('main', 'box', 20, 54, 60, 14, 7),
    of('light', 'box', 20, 42, 60, 14, 7),
    of('main', 'box', 20, 30, 60, 14, 7),
    of('dark', 'line', 28, 68, 28, 78, 2),
    of('dark', 'line', 40, 68, 40, 78, 2),
    of('dark', 'line', 52, 68, 52, 78, 2),
    of('dark', 'line', 64, 68, 64, 78, 2),
  ],
  pillow: [
    of('main', 'area', 18, 26, 50, 31, 82, 26, 77, 52, 82, 78, 50, 73, 18, 78, 23, 52),
    of('light', 'line', 34, 38, 66, 66, 2),
    of('light', 'line', 66, 38, 34, 66, 2),
    of('accent', 'oval', 50, 52, 3, 3),
  ],
  lamp: [
    of('accent', 'oval', 50, 46, 16, 6),
    of('main', 'area', 38, 16, 62, 16, 74, 44, 26, 44),
    of('dark', 'line', 50, 46, 50, 80, 4),
    of('dark', 'box', 34, 78, 32, 7, 3),
  ],
  vase: [
    of('accent', 'line', 50, 40, 42, 14, 2),
    of('accent', 'line', 50, 40, 60, 12, 2),
    of('accent', 'oval', 41, 14, 6, 4),
    of('accent', 'oval', 61, 12, 6, 4),
    of('main', 'box', 43, 34, 14, 16, 2),
    of('main', 'oval', 50, 64, 22, 22),
    of('light', 'line', 32, 60, 68, 60, 2),
  ],
  basket: [
    of('dark', 'ring', 50, 42, 24, 24, 4),
    of('main', 'area', 20, 42, 80, 42, 72, 82, 28, 82),
    of('light', 'line', 24, 54, 76, 54, 2),
    of('light', 'line', 27, 66, 73, 66, 2),
    of('dark', 'box', 18, 38, 64, 7, 3),
  ],
  mirror: [
    of('main', 'oval', 50, 50, 34, 34),
    of('light', 'oval', 50, 50, 28, 28),
    of('white', 'line', 38, 56, 56, 34, 4),
    of('white', 'line', 48, 62, 62, 46, 2),
  ],
  diffuser: [
    of('dark', 'line', 48, 50, 36, 12, 2),
    of('dark', 'line', 50, 50, 50, 8, 2),
    of('dark', 'line', 52, 50, 64, 12, 2),
    of('accent', 'box', 43, 40, 14, 8, 2),
    of('main', 'box', 32, 46, 36, 38, 6),
    label,
  ],
  chair: [
    of('dark', 'line', 30, 84, 66, 48, 3),
    of('dark', 'line', 70, 84, 30, 46, 3),
    of('main', 'area', 26, 16, 38, 12, 48, 56, 36, 60),
    of('light', 'area', 36, 52, 78, 46, 80, 54, 38, 62),
  ],
  hammock: [
    of('dark', 'line', 8, 22, 26, 44, 2),
    of('dark', 'line', 92, 22, 74, 44, 2),
    of('main', 'area', 22, 42, 36, 56, 50, 60, 64, 56, 78, 42, 68, 70, 50, 78, 32, 70),
    of('light', 'line', 36, 62, 64, 62, 2),
    of('accent', 'line', 40, 70, 60, 70, 2),
  ],
  tent: [
    of('main', 'area', 50, 20, 88, 80, 12, 80),
    of('light', 'area', 50, 20, 88, 80, 62, 80),
    of('dark', 'area', 50, 42, 62, 80, 38, 80),
    of('accent', 'line', 50, 20, 50, 12, 2),
  ],
  sleepingbag: [
    of('main', 'box', 34, 14, 32, 74, 16),
    of('dark', 'oval', 50, 28, 11, 10),
    of('light', 'line', 50, 42, 50, 82, 2),
    of('accent', 'line', 36, 58, 64, 58, 2),
  ],
  torch: [
    of('accent', 'area', 20, 20, 42, 34, 42, 62, 20, 76),
    of('main', 'box', 40, 32, 12, 32, 3),
    of('dark', 'box', 50, 38, 36, 20, 4),
    of('light', 'box', 60, 42, 8, 5, 2),
  ],
  backpack: [
    of('dark', 'ring', 50, 20, 9, 9, 4),
    of('main', 'box', 28, 22, 44, 62, 14),
    of('dark', 'box', 34, 54, 32, 22, 5),
    of('light', 'line', 34, 42, 66, 42, 3),
    of('accent', 'box', 46, 58, 8, 6, 1),
  ],
  shirt: [...shirt, of('accent', 'oval', 50, 50, 8, 8)],
  buttons: [
    ...shirt,
    of('light', 'line', 50, 30, 50, 82, 2),
    of('white', 'oval', 50, 42, 1.8, 1.8),
    of('white', 'oval', 50, 56, 1.8, 1.8),
    of('white', 'oval', 50, 70, 1.8, 1.8),
  ],
  hoodie: [
    ...shirt,
    of('dark', 'ring', 50, 27, 13, 9, 5),
    of('dark', 'area', 38, 62, 62, 62, 66, 76, 34, 76),
  ],
  jacket: [
    ...shirt,
    of('dark', 'line', 50, 28, 50, 84, 2),
    of('accent', 'line', 31, 52, 69, 52, 4),
    of('light', 'area', 36, 24, 50, 30, 64, 24, 60, 16, 40, 16),
  ],
  cap: [
    of('main', 'oval', 46, 52, 28, 24),
    of('dark', 'box', 18, 52, 72, 10, 5),
    of('light', 'oval', 46, 29, 3, 2),
    of('accent', 'box', 40, 40, 12, 8, 2),
  ],
  socks: [
    of('main', 'box', 26, 16, 18, 46, 4),
    of('main', 'area', 26, 54, 44, 54, 58, 70, 54, 80, 28, 74),
    of('light', 'box', 26, 16, 18, 8, 3),
    of('dark', 'box', 54, 16, 18, 46, 4),
    of('dark', 'area', 54, 54, 72, 54, 86, 70, 82, 80, 56, 74),
    of('light', 'box', 54, 16, 18, 8, 3),
  ],
  hat: [
    of('main', 'oval', 50, 66, 40, 12),
    of('main', 'area', 32, 62, 36, 34, 50, 28, 64, 34, 68, 62),
    of('accent', 'box', 32, 54, 36, 7, 1),
  ],
  notebook: [...book, of('accent', 'line', 66, 18, 66, 88, 3)],
  planner: [
    ...book,
    of('light', 'line', 44, 52, 66, 52, 2),
    of('light', 'line', 44, 60, 66, 60, 2),
    of('light', 'line', 44, 68, 58, 68, 2),
  ],
  pens: [...pencil(30, 'main'), ...pencil(46, 'accent'), ...pencil(62, 'dark')],
  pencils: [
    ...pencil(22, 'main'),
    ...pencil(34, 'accent'),
    ...pencil(46, 'dark'),
    ...pencil(58, 'light'),
    ...pencil(70, 'main'),
  ],
  paints: [
    of('light', 'oval', 50, 54, 36, 28),
    of('main', 'oval', 32, 52, 7, 7),
    of('accent', 'oval', 46, 38, 7, 7),
    of('dark', 'oval', 64, 42, 7, 7),
    of('white', 'oval', 70, 58, 7, 7),
    of('dark', 'line', 46, 66, 82, 22, 3),
  ],
  clock: [
    of('main', 'oval', 50, 50, 34, 34),
    of('white', 'oval', 50, 50, 28, 28),
    of('dark', 'line', 50, 50, 50, 30, 3),
    of('dark', 'line', 50, 50, 64, 56, 3),
    of('accent', 'oval', 50, 50, 3, 3),
  ],
  seal: [
    of('main', 'oval', 50, 50, 46, 46),
    of('white', 'ring', 50, 50, 38, 38, 3),
    of('white', 'area', 50, 24, 57, 42, 76, 43, 61, 55, 66, 74, 50, 63, 34, 74, 39, 55, 24, 43, 43, 42),
  ],
  sun: [of('accent', 'oval', 50, 50, 40, 40), of('light', 'oval', 50, 50, 28, 28)],
} as const satisfies Record<string, readonly Shape[]>

export type Motif = keyof typeof motifs
export const isMotif = (name: string): name is Motif => Object.hasOwn(motifs, name)
