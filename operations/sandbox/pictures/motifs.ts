/** Motifs that depict the demo's products: shapes on a 100 by 100 grid, each in a tone of the picture's palette. */

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

const shape = (tone: Tone, ...form: Form): Shape => ({ form, tone })

const label = shape('white', 'box', 40, 52, 20, 14, 2)
const shirt = [
  shape('main', 'area', 34, 24, 66, 24, 90, 42, 80, 56, 70, 49, 70, 84, 30, 84, 30, 49, 20, 56, 10, 42),
  shape('dark', 'oval', 50, 24, 10, 5),
]
const book = [
  shape('main', 'box', 28, 18, 46, 64, 3),
  shape('dark', 'box', 28, 18, 8, 64, 3),
  shape('white', 'box', 44, 30, 22, 12, 1),
]
const flask = [shape('dark', 'box', 42, 14, 16, 12, 3), shape('main', 'box', 36, 24, 28, 62, 9)]
const pencil = (x: number, tone: Tone): Shape[] => [
  shape(tone, 'box', x, 34, 7, 48, 1),
  shape('white', 'area', x, 34, x + 7, 34, x + 3.5, 20),
  shape('dark', 'area', x + 2.3, 25, x + 4.7, 25, x + 3.5, 20),
]

export const motifs = {
  mug: [
    shape('dark', 'ring', 68, 52, 13, 15, 6),
    shape('main', 'box', 26, 30, 40, 50, 7),
    shape('light', 'box', 26, 30, 40, 7, 3),
    shape('accent', 'oval', 46, 58, 9, 9),
  ],
  bottle: [...flask, label],
  canteen: [...flask, shape('light', 'ring', 50, 12, 9, 7, 3), shape('accent', 'box', 36, 44, 28, 6, 0)],
  knives: [
    shape('light', 'area', 30, 20, 38, 20, 38, 58, 30, 58),
    shape('dark', 'box', 30, 58, 8, 26, 3),
    shape('light', 'area', 46, 14, 56, 24, 56, 58, 46, 58),
    shape('dark', 'box', 46, 58, 10, 28, 3),
    shape('light', 'area', 64, 30, 70, 34, 70, 58, 64, 58),
    shape('dark', 'box', 64, 58, 6, 22, 3),
  ],
  pan: [
    shape('dark', 'line', 62, 42, 90, 20, 8),
    shape('main', 'oval', 42, 56, 30, 28),
    shape('dark', 'oval', 42, 56, 24, 22),
    shape('accent', 'oval', 40, 57, 9, 7),
  ],
  board: [
    shape('main', 'box', 30, 26, 40, 58, 7),
    shape('main', 'box', 43, 12, 14, 20, 6),
    shape('light', 'oval', 50, 19, 3, 3),
    shape('dark', 'line', 38, 42, 38, 74, 1),
    shape('dark', 'line', 52, 38, 52, 78, 1),
    shape('dark', 'line', 62, 46, 62, 70, 1),
  ],
  grinder: [
    shape('dark', 'line', 50, 18, 76, 18, 4),
    shape('accent', 'oval', 77, 18, 5, 5),
    shape('dark', 'line', 50, 18, 50, 32, 4),
    shape('light', 'area', 34, 32, 66, 32, 60, 48, 40, 48),
    shape('main', 'box', 32, 48, 36, 34, 3),
    shape('dark', 'box', 40, 64, 20, 12, 1),
    shape('accent', 'oval', 50, 70, 2.5, 2.5),
  ],
  coffee: [
    shape('main', 'area', 30, 24, 70, 24, 74, 84, 26, 84),
    shape('dark', 'box', 28, 16, 44, 10, 2),
    shape('white', 'oval', 50, 56, 14, 14),
    shape('dark', 'oval', 50, 56, 6, 9),
    shape('white', 'line', 50, 48, 50, 64, 1.5),
  ],
  apron: [
    shape('dark', 'ring', 50, 22, 10, 12, 3),
    shape('main', 'area', 38, 26, 62, 26, 66, 44, 76, 48, 76, 86, 24, 86, 24, 48, 34, 44),
    shape('light', 'box', 38, 58, 24, 16, 2),
  ],
  candle: [
    shape('accent', 'oval', 50, 22, 4, 8),
    shape('dark', 'line', 50, 28, 50, 38, 1.5),
    shape('light', 'box', 34, 36, 32, 46, 4),
    shape('main', 'box', 34, 48, 32, 34, 4),
    shape('white', 'box', 41, 56, 18, 14, 1),
  ],
  blanket: [
    shape('main', 'box', 20, 54, 60, 14, 7),
    shape('light', 'box', 20, 42, 60, 14, 7),
    shape('main', 'box', 20, 30, 60, 14, 7),
    shape('dark', 'line', 28, 68, 28, 78, 2),
    shape('dark', 'line', 40, 68, 40, 78, 2),
    shape('dark', 'line', 52, 68, 52, 78, 2),
    shape('dark', 'line', 64, 68, 64, 78, 2),
  ],
  pillow: [
    shape('main', 'area', 18, 26, 50, 31, 82, 26, 77, 52, 82, 78, 50, 73, 18, 78, 23, 52),
    shape('light', 'line', 34, 38, 66, 66, 2),
    shape('light', 'line', 66, 38, 34, 66, 2),
    shape('accent', 'oval', 50, 52, 3, 3),
  ],
  lamp: [
    shape('accent', 'oval', 50, 46, 16, 6),
    shape('main', 'area', 38, 16, 62, 16, 74, 44, 26, 44),
    shape('dark', 'line', 50, 46, 50, 80, 4),
    shape('dark', 'box', 34, 78, 32, 7, 3),
  ],
  vase: [
    shape('accent', 'line', 50, 40, 42, 14, 2),
    shape('accent', 'line', 50, 40, 60, 12, 2),
    shape('accent', 'oval', 41, 14, 6, 4),
    shape('accent', 'oval', 61, 12, 6, 4),
    shape('main', 'box', 43, 34, 14, 16, 2),
    shape('main', 'oval', 50, 64, 22, 22),
    shape('light', 'line', 32, 60, 68, 60, 2),
  ],
  basket: [
    shape('dark', 'ring', 50, 42, 24, 24, 4),
    shape('main', 'area', 20, 42, 80, 42, 72, 82, 28, 82),
    shape('light', 'line', 24, 54, 76, 54, 2),
    shape('light', 'line', 27, 66, 73, 66, 2),
    shape('dark', 'box', 18, 38, 64, 7, 3),
  ],
  mirror: [
    shape('main', 'oval', 50, 50, 34, 34),
    shape('light', 'oval', 50, 50, 28, 28),
    shape('white', 'line', 38, 56, 56, 34, 4),
    shape('white', 'line', 48, 62, 62, 46, 2),
  ],
  diffuser: [
    shape('dark', 'line', 48, 50, 36, 12, 2),
    shape('dark', 'line', 50, 50, 50, 8, 2),
    shape('dark', 'line', 52, 50, 64, 12, 2),
    shape('accent', 'box', 43, 40, 14, 8, 2),
    shape('main', 'box', 32, 46, 36, 38, 6),
    label,
  ],
  chair: [
    shape('dark', 'line', 30, 84, 66, 48, 3),
    shape('dark', 'line', 70, 84, 30, 46, 3),
    shape('main', 'area', 26, 16, 38, 12, 48, 56, 36, 60),
    shape('light', 'area', 36, 52, 78, 46, 80, 54, 38, 62),
  ],
  hammock: [
    shape('dark', 'line', 8, 22, 26, 44, 2),
    shape('dark', 'line', 92, 22, 74, 44, 2),
    shape('main', 'area', 22, 42, 36, 56, 50, 60, 64, 56, 78, 42, 68, 70, 50, 78, 32, 70),
    shape('light', 'line', 36, 62, 64, 62, 2),
    shape('accent', 'line', 40, 70, 60, 70, 2),
  ],
  tent: [
    shape('main', 'area', 50, 20, 88, 80, 12, 80),
    shape('light', 'area', 50, 20, 88, 80, 62, 80),
    shape('dark', 'area', 50, 42, 62, 80, 38, 80),
    shape('accent', 'line', 50, 20, 50, 12, 2),
  ],
  sleepingbag: [
    shape('main', 'box', 34, 14, 32, 74, 16),
    shape('dark', 'oval', 50, 28, 11, 10),
    shape('light', 'line', 50, 42, 50, 82, 2),
    shape('accent', 'line', 36, 58, 64, 58, 2),
  ],
  torch: [
    shape('accent', 'area', 20, 20, 42, 34, 42, 62, 20, 76),
    shape('main', 'box', 40, 32, 12, 32, 3),
    shape('dark', 'box', 50, 38, 36, 20, 4),
    shape('light', 'box', 60, 42, 8, 5, 2),
  ],
  backpack: [
    shape('dark', 'ring', 50, 20, 9, 9, 4),
    shape('main', 'box', 28, 22, 44, 62, 14),
    shape('dark', 'box', 34, 54, 32, 22, 5),
    shape('light', 'line', 34, 42, 66, 42, 3),
    shape('accent', 'box', 46, 58, 8, 6, 1),
  ],
  shirt: [...shirt, shape('accent', 'oval', 50, 50, 8, 8)],
  buttons: [
    ...shirt,
    shape('light', 'line', 50, 30, 50, 82, 2),
    shape('white', 'oval', 50, 42, 1.8, 1.8),
    shape('white', 'oval', 50, 56, 1.8, 1.8),
    shape('white', 'oval', 50, 70, 1.8, 1.8),
  ],
  hoodie: [
    ...shirt,
    shape('dark', 'ring', 50, 27, 13, 9, 5),
    shape('dark', 'area', 38, 62, 62, 62, 66, 76, 34, 76),
  ],
  jacket: [
    ...shirt,
    shape('dark', 'line', 50, 28, 50, 84, 2),
    shape('accent', 'line', 31, 52, 69, 52, 4),
    shape('light', 'area', 36, 24, 50, 30, 64, 24, 60, 16, 40, 16),
  ],
  cap: [
    shape('main', 'oval', 46, 52, 28, 24),
    shape('dark', 'box', 18, 52, 72, 10, 5),
    shape('light', 'oval', 46, 29, 3, 2),
    shape('accent', 'box', 40, 40, 12, 8, 2),
  ],
  socks: [
    shape('main', 'box', 26, 16, 18, 46, 4),
    shape('main', 'area', 26, 54, 44, 54, 58, 70, 54, 80, 28, 74),
    shape('light', 'box', 26, 16, 18, 8, 3),
    shape('dark', 'box', 54, 16, 18, 46, 4),
    shape('dark', 'area', 54, 54, 72, 54, 86, 70, 82, 80, 56, 74),
    shape('light', 'box', 54, 16, 18, 8, 3),
  ],
  hat: [
    shape('main', 'oval', 50, 66, 40, 12),
    shape('main', 'area', 32, 62, 36, 34, 50, 28, 64, 34, 68, 62),
    shape('accent', 'box', 32, 54, 36, 7, 1),
  ],
  notebook: [...book, shape('accent', 'line', 66, 18, 66, 88, 3)],
  planner: [
    ...book,
    shape('light', 'line', 44, 52, 66, 52, 2),
    shape('light', 'line', 44, 60, 66, 60, 2),
    shape('light', 'line', 44, 68, 58, 68, 2),
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
    shape('light', 'oval', 50, 54, 36, 28),
    shape('main', 'oval', 32, 52, 7, 7),
    shape('accent', 'oval', 46, 38, 7, 7),
    shape('dark', 'oval', 64, 42, 7, 7),
    shape('white', 'oval', 70, 58, 7, 7),
    shape('dark', 'line', 46, 66, 82, 22, 3),
  ],
  clock: [
    shape('main', 'oval', 50, 50, 34, 34),
    shape('white', 'oval', 50, 50, 28, 28),
    shape('dark', 'line', 50, 50, 50, 30, 3),
    shape('dark', 'line', 50, 50, 64, 56, 3),
    shape('accent', 'oval', 50, 50, 3, 3),
  ],
  seal: [
    shape('main', 'oval', 50, 50, 46, 46),
    shape('white', 'ring', 50, 50, 38, 38, 3),
    shape('white', 'area', 50, 24, 57, 42, 76, 43, 61, 55, 66, 74, 50, 63, 34, 74, 39, 55, 24, 43, 43, 42),
  ],
  sun: [shape('accent', 'oval', 50, 50, 40, 40), shape('light', 'oval', 50, 50, 28, 28)],
} as const satisfies Record<string, readonly Shape[]>

export type Motif = keyof typeof motifs
export const isMotif = (name: string): name is Motif => Object.hasOwn(motifs, name)
