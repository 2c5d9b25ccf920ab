<<<<<<<< HEAD:internal/gate/console/dist/assets/levels-d_2th0cC.js
import{Ra as e}from"./base-ClHB0WIU.js";var t={SUGGEST:e(`It makes proposals, people apply them.`),ACT_WITH_APPROVAL:e(`Each of its changes waits until a person approves it.`),AUTONOMOUS:e(`It makes changes on its own. It can only be published once its draft has passed an evaluation.`)};export{t};
========
import{Ra as e}from"./base-DS41PaHG.js";var t={SUGGEST:e(`It makes proposals, people apply them.`),ACT_WITH_APPROVAL:e(`Each of its changes waits until a person approves it.`),AUTONOMOUS:e(`It makes changes on its own. It can only be published once its draft has passed an evaluation.`)};export{t};
>>>>>>>> h-rep:internal/gate/console/dist/assets/levels-CSyxhOUU.js
