import { section } from '#runtime/section'

export default section({
  title: 'Statistics and conversions',
  description:
    'What the messages brought back, in money: conversions by source, day and product, beside everything that was sent, and the orders of the platform as they are mirrored here.',
  position: 3,
  order: [
    'get_statistics_export',
    'get_statistics',
    'get_statistics_products',
    'get_conversions',
    'get_conversions_summary',
    'get_conversions_recovered_total',
    'get_conversions_export',
    'get_analytics_orders',
  ],
  words: {
    alike: ['order purchase', 'conversion attributed attribution source thanks'],
    alikeHere: [
      'statistics number performance',
      'recovered abandoned cart back return won win save',
      'conversion sale revenue money order brought bring came come',
      'product bestseller best top',
    ],
    abroad: [
      'pedido encomenda orden compra: order',
      'comprar comprou compraram compraron: order buy',
      'mais_vendidos mas_vendidos: bestseller & product sell',
      'recuperar recuperado: recovered',
      'atribuicao atribucion conversao conversion converter convertir: conversion',
      'vir vieram vinieron trazer traer trouxe trouxeram trajo trajeron gerar generar: brought',
      'grafico: chart',
      'dia diario: day',
    ],
  },
})
