import mlflow.pyfunc
from fastapi import FastAPI

app = FastAPI()
model = mlflow.pyfunc.load_model("models:/churn/latest")
